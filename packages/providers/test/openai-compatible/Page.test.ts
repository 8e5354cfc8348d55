/** docs/models.md and its example say what the code does: the example loads, and every field of the file is on the page. */
import { describe, expect, it } from "@effect/vitest"
import { servedModelsOf } from "@sluice/providers/openai-compatible/catalog/UpstreamCatalog"
import { CatalogModelEntry, UpstreamEntry } from "@sluice/providers/openai-compatible/catalog/CatalogFile"
import { Redacted, Result } from "effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"

const docs = join(import.meta.dirname, "../../../../docs")
const page = readFileSync(join(docs, "models.md"), "utf8")
const example: unknown = JSON.parse(readFileSync(join(docs, "models.example.json"), "utf8"))

describe("docs/models.md", () => {
  it("has an example of each kind that loads with the keys that the page sets", () => {
    const set = /^export (.+)$/m
      .exec(page)![1]!
      .split(" ")
      .map((one) => one.split("=")[0]!)
    const keys = new Map(set.map((name) => [name, Redacted.make("k")]))
    const offers = Result.getOrThrowWith(servedModelsOf(example, keys), (issues) => new Error(issues.join("\n")))
    for (const [kind, all] of Object.entries(offers)) expect([kind, all.length > 0]).toEqual([kind, true])
    expect(offers.chat[0]!.servers.map(({ weight }) => weight)).toEqual([3, 1])
  })

  it("names every field", () => {
    const names = [
      ...Object.keys(UpstreamEntry.fields),
      ...CatalogModelEntry.members.flatMap(({ fields }) => [
        ...Object.keys(fields),
        fields.kind.literal,
        ...Object.keys(fields.price_usd.fields)
      ])
    ]
    expect(names.length).toBeGreaterThan(40)
    expect([...new Set(names)].filter((name) => !page.includes(`\`${name}\``))).toEqual([])
  })
})
