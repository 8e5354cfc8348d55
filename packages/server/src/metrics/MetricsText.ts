/**
 * Renders metric families in Prometheus' text format, version 0.0.4. Every family has its HELP and TYPE, also without
 * series.
 */
import { type Description, Histogram, type Series, type Tally } from "@sluice/domain/metrics/Family"

export const CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

export type Rendered = Description & { readonly all: Iterable<Series<Tally | Histogram>> }

export const metricsText = (families: Iterable<Rendered>): string => {
  const lines: Array<string> = []
  for (const family of families) {
    lines.push(`# HELP ${family.name} ${escape(family.help)}`, `# TYPE ${family.name} ${family.kind}`)
    for (const { content, values } of family.all) {
      const pairs = family.labels.map((label, i) => `${label}="${escapeLabel(values[i]!)}"`)
      if (content instanceof Histogram) lines.push(...histogramLines(family.name, pairs, content))
      else lines.push(line(family.name, pairs, content.value))
    }
  }
  return `${lines.join("\n")}\n`
}

const histogramLines = (name: string, pairs: ReadonlyArray<string>, { bounds, counts, sum }: Histogram) => {
  let below = 0
  const buckets = counts.map((count, i) =>
    line(`${name}_bucket`, [...pairs, `le="${i < bounds.length ? bounds[i]! : "+Inf"}"`], (below += count))
  )
  return [...buckets, line(`${name}_sum`, pairs, sum), line(`${name}_count`, pairs, below)]
}

const line = (name: string, pairs: ReadonlyArray<string>, value: number): string =>
  `${name}${pairs.length === 0 ? "" : `{${pairs.join(",")}}`} ${String(value).replace("Infinity", "Inf")}`

const escape = (text: string): string => text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")
const escapeLabel = (text: string): string => escape(text).replaceAll('"', '\\"')
