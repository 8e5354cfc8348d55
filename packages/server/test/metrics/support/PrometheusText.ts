/**
 * A strict reader of Prometheus' text format 0.0.4, written from its grammar and sharing no code with the writer: it throws
 * at the first line that a scraper might refuse, and at what promtool would complain of.
 */
export interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

export interface Metric {
  readonly name: string
  readonly help: string
  readonly type: string
  readonly samples: ReadonlyArray<Sample>
}

/** Families by name. */
export const parsePrometheus = (text: string): ReadonlyMap<string, Metric> => {
  if (!text.endsWith("\n")) throw new Error("the last line has no end")
  const metrics = new Map<string, Metric & { samples: Array<Sample> }>()
  const seen = new Set<string>()
  const lines = text.slice(0, -1).split("\n")
  let current: (Metric & { samples: Array<Sample> }) | undefined
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at]!
    const help = /^# HELP ([a-zA-Z_:][a-zA-Z0-9_:]*) ((?:[^\\]|\\\\|\\n)+)$/.exec(line)
    if (help !== null) {
      const [, name = "", words = ""] = help
      const type = /^# TYPE (\S+) (counter|gauge|histogram)$/.exec(lines[++at] ?? "")
      if (type?.[1] !== name) throw new Error(`no TYPE after the HELP of ${name}`)
      if (metrics.has(name)) throw new Error(`${name} comes twice`)
      current = {
        name,
        type: type[2]!,
        help: words.replaceAll(/\\(.)/g, (_, c) => (c === "n" ? "\n" : c)),
        samples: []
      }
      metrics.set(name, current)
      continue
    }
    const sample = sampleOf(line)
    if (current === undefined || !namesOf(current).includes(sample.name)) throw new Error(`out of place: ${line}`)
    const id = JSON.stringify([sample.name, Object.entries(sample.labels).sort()])
    if (seen.has(id)) throw new Error(`twice: ${line}`)
    seen.add(id)
    current.samples.push(sample)
  }
  for (const metric of metrics.values()) check(metric)
  return metrics
}

const namesOf = ({ name, type }: Metric) =>
  type === "histogram" ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name]

const sampleOf = (line: string): Sample => {
  const head = /^[a-zA-Z_:][a-zA-Z0-9_:]*/.exec(line)?.[0]
  if (head === undefined) throw new Error(`no sample: ${line}`)
  let rest = line.slice(head.length)
  const labels: Record<string, string> = {}
  if (rest.startsWith("{")) {
    rest = rest.slice(1)
    for (;;) {
      const pair = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\[\\"n])*)"(,|\} )/.exec(rest)
      if (pair === null) throw new Error(`bad labels: ${line}`)
      const [whole, name = "", value = "", end] = pair
      if (Object.hasOwn(labels, name) || name.startsWith("__")) throw new Error(`bad label ${name}: ${line}`)
      labels[name] = value.replaceAll(/\\(.)/g, (_, c) => (c === "n" ? "\n" : c))
      rest = rest.slice(whole.length)
      if (end !== ",") break
    }
  } else rest = rest.slice(1)
  if (!/^([+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?|[+-]?Inf|NaN)$/.test(rest)) throw new Error(`bad number: ${line}`)
  return { name: head, labels, value: Number(rest.replace("Inf", "Infinity")) }
}

/** Checks promtool's rules and the rules of histograms. */
const check = ({ help, name, samples, type }: Metric) => {
  const wrong = (why: string) => new Error(`${name}: ${why}`)
  if (help.trim() === "") throw wrong("no help")
  if ((type === "counter") !== name.endsWith("_total")) throw wrong("counters, and they alone, end in _total")
  for (const { labels, value } of samples) {
    if (type !== "gauge" && !(value >= 0)) throw wrong("is below zero")
    if ("quantile" in labels || (type !== "histogram" && "le" in labels)) throw wrong("has a reserved label")
  }
  if (type !== "histogram") return
  const groups = new Map<string, Array<Sample>>()
  for (const sample of samples) {
    const { le: _, ...others } = sample.labels
    const key = JSON.stringify(Object.entries(others).sort())
    groups.set(key, [...(groups.get(key) ?? []), sample])
  }
  for (const group of groups.values()) {
    const buckets = group.filter((sample) => sample.name === `${name}_bucket`)
    const bounds = buckets.map(({ labels }) => Number(labels["le"]!.replace("+Inf", "Infinity")))
    if (bounds.at(-1) !== Infinity) throw wrong("has no bucket for all")
    for (let i = 1; i < buckets.length; i++) {
      if (!(bounds[i]! > bounds[i - 1]!)) throw wrong("its bounds do not grow")
      if (buckets[i]!.value < buckets[i - 1]!.value) throw wrong("its buckets are not cumulative")
    }
    const count = group.find((sample) => sample.name === `${name}_count`)
    if (count?.value !== buckets.at(-1)!.value) throw wrong("its count is not that of all")
    if (group.filter((sample) => sample.name === `${name}_sum`).length !== 1) throw wrong("has no one sum")
  }
}
