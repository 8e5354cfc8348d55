/**
 * The picture of a run as one page without network: machines as rows, jobs as bars coloured by their end, faults and
 * downtime marked, money below. Rows are reused after a machine has ended, so hundreds of machines fit.
 */
import { packed, type Placed } from "./Lanes.ts"
import type { JobBar, Outcome } from "./Outcome.ts"
import { endOf, summaryOf } from "./Summary.ts"
import { durationText, textReport } from "./TextReport.ts"

const WIDTH = 1_160
const LEFT = 96
const LANE = 9
/** What a label over the picture takes at most: the last one stands before its line. */
const LABEL = 48
/** Bars drawn at most; the page says when it left some out. */
const MOST_BARS = 20_000
const MOST_MARKS = 4_000
/** Colours that people tell apart who do not see red and green. */
const COLOURS: Readonly<Record<string, string>> = {
  succeeded: "#0072b2",
  failed: "#d55e00",
  timed_out: "#cc79a7",
  cancelled: "#999999",
  open: "#f0e442"
}

export const htmlReport = (outcome: Outcome): string => {
  const scale = (at: number) => LEFT + (WIDTH - LEFT) * Math.min(1, Math.max(0, at / Math.max(1, outcome.virtualMs)))
  const summary = summaryOf(outcome)
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Simulation, seed ${outcome.scenario.seed}</title><style>${STYLE}</style></head><body>
<h1>${outcome.violation === null ? "No invariant broke" : `Broken: ${escaped(outcome.violation.invariant)}`}</h1>
<p>Seed ${outcome.scenario.seed}: ${durationText(outcome.virtualMs)} of ${summary.machines} machines in ${(outcome.wallMs / 1_000).toFixed(1)} s,
${Math.round(summary.speed).toLocaleString("en-US")} times as fast. ${outcome.jobs.length} jobs, ${summary.faultCount} faults, ${outcome.boots} server starts.</p>
<p>${legend(outcome.jobs)}</p>
${fleet(outcome, scale)}
<h2>Money</h2>
<p class="legend"><i style="background:#0072b2"></i>earned <i style="background:#d55e00"></i>held</p>
${money(outcome, scale)}
<h2>In numbers</h2>
<pre>${escaped(textReport(outcome))}</pre>
</body></html>
`
}

const STYLE = `:root{color-scheme:light dark;--fg:#1a1a1a;--bg:#fff;--line:#ddd;--wait:#bbb}
@media(prefers-color-scheme:dark){:root{--fg:#e6e6e6;--bg:#161616;--line:#333;--wait:#555}}
body{font:14px/1.45 system-ui,sans-serif;color:var(--fg);background:var(--bg);max-width:${WIDTH}px;margin:2rem auto;padding:0 1rem}
h1{font-size:1.4rem}h2{font-size:1.05rem;margin-top:2rem}svg{display:block;width:100%;height:auto}text{fill:var(--fg);font:11px system-ui,sans-serif}
.legend i,p i{display:inline-block;width:.8em;height:.8em;margin:0 .3em 0 1em;border-radius:2px}pre{overflow:auto;font-size:12px}
.grid{stroke:var(--line)}.wait{stroke:var(--wait)}`

const colourOf = (job: JobBar): string => COLOURS[job.status] ?? COLOURS["open"]!

const legend = (jobs: ReadonlyArray<JobBar>): string => {
  const counts = new Map<string, number>()
  for (const job of jobs) counts.set(job.status, (counts.get(job.status) ?? 0) + 1)
  const known = [...counts].sort((a, b) => b[1] - a[1])
  return known
    .map(
      ([status, count]) => `<i style="background:${COLOURS[status] ?? COLOURS["open"]}"></i>${escaped(status)} ${count}`
    )
    .join("")
}

/** Machines by type, then faults and downtime on strips of their own. */
const fleet = (outcome: Outcome, scale: (at: number) => number): string => {
  const jobs = new Map(outcome.jobs.map((job) => [job.id, job]))
  const types = [...new Set(outcome.machines.map((machine) => machine.gpuType))].sort()
  const parts: Array<string> = []
  let y = 22
  let drawn = 0
  for (const type of types) {
    const placed = packed(
      outcome.machines.filter((machine) => machine.gpuType === type),
      outcome.virtualMs
    )
    const lanes = placed.reduce((most, { lane }) => Math.max(most, lane + 1), 0)
    if (lanes === 0) continue
    parts.push(`<text x="0" y="${y + 9}">${escaped(type)}</text>`)
    for (const one of placed) if (drawn++ < MOST_BARS) parts.push(bar(one, jobs.get(one.machine.jobId ?? ""), y, scale))
    y += lanes * LANE + 8
  }
  parts.push(...strip("faults", y, outcome, scale))
  y += 30
  const left =
    drawn > MOST_BARS ? `<text x="${LEFT}" y="${y + 12}">${drawn - MOST_BARS} more machines are not drawn</text>` : ""
  return `<svg viewBox="0 0 ${WIDTH} ${y + 18}" role="img" aria-label="The fleet over time">${grid(outcome, y, scale)}${parts.join("")}${left}</svg>`
}

const bar = (
  { from, lane, machine, to }: Placed,
  job: JobBar | undefined,
  top: number,
  scale: (at: number) => number
) => {
  const y = top + lane * LANE
  const x = scale(from)
  const title =
    job === undefined
      ? machine.id
      : `${job.id}: ${endOf(job)}, ${durationText(to - from)}, ${machine.gpuCount} x ${machine.gpuType}`
  const colour = job === undefined ? COLOURS["open"]! : colourOf(job)
  return `<rect x="${x.toFixed(1)}" y="${y}" width="${Math.max(1, scale(to) - x).toFixed(1)}" height="${LANE - 2}" fill="${colour}"><title>${escaped(title)}</title></rect>`
}

const strip = (title: string, y: number, outcome: Outcome, scale: (at: number) => number): ReadonlyArray<string> => [
  `<text x="0" y="${y + 12}">${title}</text>`,
  ...outcome.downs.map(
    ({ from, to }) =>
      `<rect x="${scale(from).toFixed(1)}" y="${y}" width="${Math.max(1, scale(to) - scale(from)).toFixed(1)}" height="16" fill="#d55e00" opacity=".6"><title>no server for ${durationText(to - from)}</title></rect>`
  ),
  ...outcome.strikes
    .slice(0, MOST_MARKS)
    .map(
      ({ at, fault, subject }) =>
        `<path d="M${scale(at).toFixed(1)} ${y + 3}v10" stroke="currentColor" opacity=".5"><title>${escaped(`${fault}: ${subject}`)}</title></path>`
    )
]

const grid = (outcome: Outcome, height: number, scale: (at: number) => number): string => {
  const hours = outcome.virtualMs / 3_600_000
  const step = [0.1, 0.25, 0.5, 1, 2, 6, 12, 24, 48, 120, 240].find((size) => hours / size <= 12) ?? 480
  const lines: Array<string> = []
  for (let hour = 0; hour <= hours; hour += step) {
    const at = scale(hour * 3_600_000)
    const x = at.toFixed(1)
    const anchor = at > WIDTH - LABEL ? ` text-anchor="end"` : ""
    const label = step < 24 ? `${Number(hour.toFixed(2))} h` : `day ${Math.floor(hour / 24)}`
    lines.push(`<path class="grid" d="M${x} 14V${height}"/><text x="${x}" y="10"${anchor}>${label}</text>`)
  }
  return lines.join("")
}

const money = (outcome: Outcome, scale: (at: number) => number): string => {
  const height = 140
  const top = Math.max(0.01, ...outcome.money.map((point) => Math.max(point.heldUsd, point.revenueUsd)))
  const line = (of: (point: Outcome["money"][number]) => number, colour: string) =>
    `<polyline fill="none" stroke="${colour}" stroke-width="1.5" points="${outcome.money
      .map((point) => `${scale(point.at).toFixed(1)},${(height - 4 - (of(point) / top) * (height - 24)).toFixed(1)}`)
      .join(" ")}"/>`
  return `<svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="Money over time">${grid(outcome, height, scale)}
<text x="0" y="26">$${top.toFixed(2)}</text>${line((point) => point.revenueUsd, "#0072b2")}${line((point) => point.heldUsd, "#d55e00")}</svg>`
}

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;")
