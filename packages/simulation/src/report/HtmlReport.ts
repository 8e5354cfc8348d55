/**
 * The picture of a run as one page without network: machines as rows, jobs as bars coloured by their end, faults and
 * downtime marked, money below. Rows are reused after a machine has ended, so hundreds of machines fit.
 */
import { type Bar, packed, together } from "./Lanes.ts"
import type { JobBar, Outcome } from "./Outcome.ts"
import { counted, endOf, summaryOf } from "./Summary.ts"
import { durationText, textReport } from "./TextReport.ts"

const WIDTH = 1_160
const LEFT = 96
const LANE = 9
/** What a label over the picture takes at most: the last one stands before its line. */
const LABEL = 48
/** Where there would be more bars, short ones are drawn together until there are not; the page says so. */
const MAX_BARS = 20_000
const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
/** From one line of the grid to the next. */
const STEPS = [
  ...[1, 5, 15, 30].map((seconds) => seconds * SECOND),
  ...[1, 2, 5, 10].map((minutes) => minutes * MINUTE),
  ...[0.5, 1, 2, 6, 12, 24, 48, 120, 240, 480].map((hours) => hours * HOUR)
]
const MAX_LINES = 12
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

const colourOf = (status: string): string => COLOURS[status] ?? COLOURS["open"]!

const legend = (jobs: ReadonlyArray<JobBar>): string =>
  counted(jobs.map(({ status }) => status))
    .map(([status, count]) => `<i style="background:${colourOf(status)}"></i>${escaped(status)} ${count}`)
    .join("")

/** Machines by type, then faults and downtime on strips of their own. */
const fleet = (outcome: Outcome, scale: (at: number) => number): string => {
  const jobs = new Map(outcome.jobs.map((job) => [job.id, job]))
  const types = [...new Set(outcome.machines.map((machine) => machine.gpuType))].sort()
  const rows = types.map((type) => ({
    type,
    placed: packed(
      outcome.machines.filter((machine) => machine.gpuType === type),
      outcome.virtualMs
    )
  }))
  const within = (span: number) => rows.map(({ placed, type }) => ({ type, bars: together(placed, span) }))
  // A pixel, or so many that the bars of all types are few enough.
  let span = outcome.virtualMs / (WIDTH - LEFT)
  let drawn = within(span)
  const many = () => drawn.reduce((sum, { bars }) => sum + bars.length, 0) > MAX_BARS
  while (span < outcome.virtualMs && many()) drawn = within((span *= 1.5))
  const parts: Array<string> = []
  let y = 22
  for (const { bars, type } of drawn) {
    const lanes = bars.reduce((most, { lane }) => Math.max(most, lane + 1), 0)
    if (lanes === 0) continue
    parts.push(`<text x="0" y="${y + 9}">${escaped(type)}</text>`)
    for (const one of bars) parts.push(bar(one, jobs, y, scale))
    y += lanes * LANE + 8
  }
  parts.push(...strip("faults", y, outcome, scale))
  y += 30
  const left = drawn.some(({ bars }) => bars.some(({ machines }) => machines.length > 1))
    ? `<text x="${LEFT}" y="${y + 12}">Machines that follow each other in a row within ${durationText(span)} are one bar, in the colour of most of them</text>`
    : ""
  return `<svg viewBox="0 0 ${WIDTH} ${y + 18}" role="img" aria-label="The fleet over time">${grid(outcome, y, scale)}${parts.join("")}${left}</svg>`
}

const bar = (
  { from, lane, machines, to }: Bar,
  jobs: ReadonlyMap<string, JobBar>,
  top: number,
  scale: (at: number) => number
) => {
  const y = top + lane * LANE
  const x = scale(from)
  const [first] = machines
  const job = jobs.get(first!.jobId ?? "")
  const ends = counted(machines.map((machine) => jobs.get(machine.jobId ?? "")?.status ?? "open"))
  const title =
    machines.length > 1
      ? `${machines.length} machines in ${durationText(to - from)}: ${countsText(ends)}`
      : job === undefined
        ? first!.id
        : `${job.id}: ${endOf(job)}, ${durationText(to - from)}, ${first!.gpuCount} x ${first!.gpuType}`
  return `<rect x="${x.toFixed(1)}" y="${y}" width="${Math.max(1, scale(to) - x).toFixed(1)}" height="${LANE - 2}" fill="${colourOf(ends[0]![0])}"><title>${escaped(title)}</title></rect>`
}

const strip = (title: string, y: number, outcome: Outcome, scale: (at: number) => number): ReadonlyArray<string> => [
  `<text x="0" y="${y + 12}">${title}</text>`,
  ...outcome.downs.map(
    ({ from, to }) =>
      `<rect x="${scale(from).toFixed(1)}" y="${y}" width="${Math.max(1, scale(to) - scale(from)).toFixed(1)}" height="16" fill="#d55e00" opacity=".6"><title>no server for ${durationText(to - from)}</title></rect>`
  ),
  ...marks(outcome.strikes, scale).map(
    ([x, titles]) =>
      `<path d="M${x} ${y + 3}v10" stroke="currentColor" opacity=".5"><title>${escaped(titles.length > 1 ? countsText(counted(titles.map(([fault]) => fault))) : titles[0]!.join(": "))}</title></path>`
  )
]

/** All faults by the pixel that they fall on. */
const marks = (strikes: Outcome["strikes"], scale: (at: number) => number) => {
  const found = new Map<number, Array<readonly [fault: string, subject: string]>>()
  for (const { at, fault, subject } of strikes) {
    const x = Math.round(scale(at))
    const there = found.get(x)
    if (there === undefined) found.set(x, [[fault, subject]])
    else there.push([fault, subject])
  }
  return [...found]
}

const countsText = (counts: ReadonlyArray<readonly [name: string, count: number]>): string =>
  counts.map(([name, count]) => `${count} ${name}`).join(", ")

const grid = (outcome: Outcome, height: number, scale: (at: number) => number): string => {
  const step = STEPS.find((size) => outcome.virtualMs / size <= MAX_LINES) ?? STEPS.at(-1)!
  const lines: Array<string> = []
  for (let time = 0; time <= outcome.virtualMs; time += step) {
    const at = scale(time)
    const x = at.toFixed(1)
    const anchor = at > WIDTH - LABEL ? ` text-anchor="end"` : ""
    lines.push(
      `<path class="grid" d="M${x} 14V${height}"/><text x="${x}" y="10"${anchor}>${timeText(time, step)}</text>`
    )
  }
  return lines.join("")
}

const timeText = (time: number, step: number): string =>
  step < 15 * SECOND
    ? `${time / SECOND} s`
    : step < HOUR / 2
      ? `${time / MINUTE} min`
      : step < 24 * HOUR
        ? `${time / HOUR} h`
        : `day ${Math.floor(time / (24 * HOUR))}`

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
