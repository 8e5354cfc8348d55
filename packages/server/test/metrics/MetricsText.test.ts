/** The text format of metrics against a strict reader, with any characters in labels and help. */
import { assert, describe, it } from "@effect/vitest"
import { families } from "@sluice/domain/metrics/Family"
import { metricsText } from "@sluice/server/metrics/MetricsText"
import fc from "fast-check"
import { parsePrometheus } from "./support/PrometheusText.ts"

const { counter, gauge, seconds } = families(true)
/** Texts with many characters that need an escape. */
const text = fc.oneof(
  fc.string({ unit: fc.constantFrom("\\", '"', "\n", "n", "{", "}", ",", "=", " ", "ä") }),
  fc.string()
)

describe("The text of metrics", () => {
  it("keeps labels and help texts through writing and reading", () => {
    fc.assert(
      fc.property(text, text, text, fc.double({ noNaN: true }), (one, other, help, value) => {
        const family = gauge("sluice_some_bytes", ["one", "other"], `A ${help}`)
        family.of(one, other).value = value
        const read = parsePrometheus(metricsText([family])).get("sluice_some_bytes")!
        assert.deepStrictEqual(read.samples, [{ name: "sluice_some_bytes", labels: { one, other }, value: value + 0 }])
        assert.strictEqual(read.help, `A ${help}`)
      }),
      { numRuns: 500 }
    )
  })

  it("writes histograms that are cumulative and add up", () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 5_000, noNaN: true })), (values) => {
        const family = seconds("sluice_some_seconds", ["model"], "Some")
        for (const value of values) family.of("m").record(value)
        family.of("m")
        const { samples } = parsePrometheus(metricsText([family])).get("sluice_some_seconds")!
        for (const { labels, name, value } of samples) {
          const bound = Number(labels["le"]?.replace("+Inf", "Infinity"))
          if (name.endsWith("_bucket")) assert.strictEqual(value, values.filter((one) => one <= bound).length)
          if (name.endsWith("_sum"))
            assert.closeTo(
              value,
              values.reduce((sum, one) => sum + one, 0),
              1e-6
            )
          if (name.endsWith("_count")) assert.strictEqual(value, values.length)
        }
        assert.strictEqual(samples.length, 19)
      })
    )
  })

  it("has the HELP and TYPE of a family without series", () => {
    assert.strictEqual(
      metricsText([counter("sluice_some_total", [], "Some.")]),
      "# HELP sluice_some_total Some.\n# TYPE sluice_some_total counter\n"
    )
  })
})

describe("The reader", () => {
  const bad = {
    "no end": "# HELP a A\n# TYPE a gauge\na 1",
    "no type": "# HELP a A\na 1\n",
    "a stray sample": "# HELP a A\n# TYPE a gauge\nb 1\n",
    "an open quote": '# HELP a A\n# TYPE a gauge\na{b="c} 1\n',
    "a bad escape": '# HELP a A\n# TYPE a gauge\na{b="\\c"} 1\n',
    "a series twice": '# HELP a A\n# TYPE a gauge\na{b="c"} 1\na{b="c"} 2\n',
    "a counter below zero": "# HELP a_total A\n# TYPE a_total counter\na_total -1\n",
    "no number": "# HELP a A\n# TYPE a gauge\na one\n",
    "buckets that fall":
      '# HELP a A\n# TYPE a histogram\na_bucket{le="1"} 2\na_bucket{le="+Inf"} 1\na_sum 1\na_count 1\n'
  }
  it.each(Object.entries(bad))("refuses %s", (_, given) => {
    assert.throws(() => parsePrometheus(given))
  })
})
