/** docs/metrics.md lists exactly the metrics of the code, and its examples use only those. */
import * as DomainMetrics from "@sluice/domain/metrics/Metrics"
import * as ServerMetrics from "@sluice/server/metrics/ServerMetrics"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"

const page = readFileSync(join(import.meta.dirname, "..", "..", "docs", "metrics.md"), "utf8")

const families = Effect.gen(function* () {
  return [...Object.values(yield* ServerMetrics.ServerMetrics), ...Object.values(yield* DomainMetrics.Metrics)]
}).pipe(Effect.provide(ServerMetrics.layer))

describe("docs/metrics.md", () => {
  it.effect("has one row for each metric", () =>
    Effect.gen(function* () {
      const rows = (yield* families).map(
        ({ help, kind, labels, name }) =>
          `| \`${name}\` | ${kind} | ${labels.map((label) => `\`${label}\``).join(", ")} | ${help} |`
      )
      const listed = page.split("\n").filter((line) => line.startsWith("| `sluice_"))
      assert.strictEqual(listed.join("\n"), rows.join("\n"), "the rows that docs/metrics.md should have")
      assert.isAbove(rows.length, 25)
    })
  )

  it.effect("queries only existing metrics and labels", () =>
    Effect.gen(function* () {
      const known = new Map((yield* families).map((family) => [family.name, family]))
      const alerts = /^```yaml\n(groups:[\s\S]*?)^```$/m.exec(page)![1]!
      const asked = [...alerts.matchAll(/\b(sluice_\w+?)(_bucket|_count|_sum)?(?:\{([^}]*)\})?(?=[^\w{]|$)/g)]
      assert.isAtLeast(asked.length, 4)
      for (const [text, name, part, labels = ""] of asked) {
        const family = known.get(name!)
        assert.isDefined(family, text)
        assert.strictEqual(part !== undefined, family!.kind === "histogram", text)
        for (const [, label] of labels.matchAll(/(\w+) *=/g)) assert.include(family!.labels, label, text)
      }
      assert.lengthOf([...alerts.matchAll(/^ +- alert: /gm)], 3)
    })
  )
})
