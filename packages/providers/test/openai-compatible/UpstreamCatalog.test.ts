/** The catalog file: what it says is what is offered, all its mistakes are told at once, and nothing in it leaks. */
import { NodeFileSystem } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { UpstreamCatalog, type Keys, servedModelsOf } from "@sluice/providers/openai-compatible/catalog/UpstreamCatalog"
import { CatalogFile } from "@sluice/providers/openai-compatible/catalog/CatalogFile"
import * as CatalogSource from "@sluice/providers/openai-compatible/catalog/CatalogSource"
import { ConfigProvider, Context, Effect, Exit, Layer, Redacted, Result, Schema } from "effect"
import fc from "fast-check"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { inspect } from "node:util"
import { kinds } from "@sluice/testing/upstreams/Kinds"
import { chatEntry } from "@sluice/testing/upstreams/UpstreamWorld"

const SECRET = "sk-4f9a1b7c2d8e3f60"
const keys: Keys = new Map([
  ["GPU_KEY", Redacted.make(SECRET)],
  ["BAD_KEY", Redacted.make(`${SECRET}\nx-admin: 1`)]
])
const issuesOf = (models: ReadonlyArray<unknown>, more: object = {}) => {
  // As a file is read: what is undefined is not there.
  const result = servedModelsOf(JSON.parse(JSON.stringify({ models, ...more })), keys)
  return Result.isFailure(result) ? result.failure : []
}
const upstream = { base_url: "http://127.0.0.1:8000/v1" }

describe("a catalog", () => {
  it("offers what it says, to the nano-USD", () => {
    const offers = Result.getOrThrow(
      servedModelsOf(
        {
          $schema: "./models.schema.json",
          models: [
            chatEntry(
              [
                {
                  base_url: "https://gpu.example/v1/",
                  api_key_env: "GPU_KEY",
                  model: "org/large",
                  weight: 3,
                  timeout_seconds: 20
                },
                upstream
              ],
              { price_usd: { million_prompt_tokens: 0.15, million_completion_tokens: 0.000000001 }, vision: true }
            )
          ]
        },
        keys
      )
    )
    const [{ model, servers }] = offers.chat as [(typeof offers.chat)[0]]
    expect(model).toEqual({
      id: "m",
      created: 0,
      ownedBy: "operator",
      contextLength: 8_192,
      maxOutputTokens: 1_024,
      vision: true,
      promptPrice: 150_000_000n,
      completionPrice: 1n
    })
    expect(servers).toMatchObject([
      { model: "org/large", weight: 3, timeoutMs: 20_000, maxConcurrency: 256, maxTokensField: "max_tokens" },
      { model: "m", weight: 1, timeoutMs: 300_000, key: undefined }
    ])
    expect(Redacted.value(servers[0]!.key!)).toBe(SECRET)
  })

  it("a model that transcribes takes four hours of sound where the file has no max_seconds", () => {
    const heard = (more: object) =>
      Result.getOrThrow(servedModelsOf({ models: [{ ...kinds([upstream]).transcription, ...more }] }, keys))
        .transcription[0]!.model
    expect(heard({}).maxSeconds).toBe(14_400)
    expect(heard({ max_seconds: 60 }).maxSeconds).toBe(60)
    for (const max_seconds of [0, 1.5, 86_401]) {
      expect(
        Result.isFailure(servedModelsOf({ models: [{ ...kinds([upstream]).transcription, max_seconds }] }, keys))
      ).toBe(true)
    }
  })

  it("keeps every price with nine decimals exactly, and refuses the others", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 15n }), (nano) => {
        const usd = Number(`${nano / 10n ** 9n}.${(nano % 10n ** 9n).toString().padStart(9, "0")}`)
        const price_usd = { million_prompt_tokens: usd, million_completion_tokens: 0 }
        const offers = Result.getOrThrow(servedModelsOf({ models: [chatEntry([upstream], { price_usd })] }, keys))
        expect(offers.chat[0]!.model.promptPrice).toBe(nano)
      })
    )
    for (const usd of [-1, 1e-10, 0.12345678912, 1_000_001, "0.15", null]) {
      const price_usd = { million_prompt_tokens: usd, million_completion_tokens: 0 }
      expect(issuesOf([chatEntry([upstream], { price_usd })])[0]).toContain(
        "models[0].price_usd.million_prompt_tokens must"
      )
    }
  })

  it("tells all mistakes at once, each with its path and what to do", () => {
    const issues = issuesOf(
      [
        chatEntry([{ base_url: "127.0.0.1:8000", weight: 0, api_key_env: "NOT_SET" }], { contxt_length: 5 }),
        chatEntry([{ ...upstream, api_key_env: "BAD_KEY" }]),
        chatEntry([], { id: "has space", max_output_tokens: 0 }),
        { kind: "chats" },
        { ...chatEntry([{ ...upstream, key: SECRET }]), id: "n", price_usd: undefined },
        { kind: "images", id: "i", sizes: ["big"], price_usd: { image: 0.04 }, upstreams: [upstream] }
      ],
      { modles: [] }
    )
    for (const [path, words] of [
      ["models[0].upstreams[0].base_url", "must be an http:// or https:// address"],
      ["models[0].upstreams[0].weight", "must be an integer from 1 to 1000"],
      ["models[0].upstreams[0].api_key_env", "names a variable that is not set; set it"],
      ["models[0].contxt_length", "is no field here; take it out"],
      ["models[1].id", "repeats models[0].id; give each entry its own"],
      ["models[1].upstreams[0].api_key_env", "one line of visible ASCII"],
      ["models[2].upstreams", "must be a list of 1 to 64"],
      ["models[2].id", "must be 1 to 256 letters"],
      ["models[2].max_output_tokens", "must be an integer from 1"],
      ["models[3]", 'must have a "kind"'],
      ["models[4].upstreams[0].key", "api_key_env"],
      ["models[4].price_usd", "is missing; add it"],
      ["models[5].sizes[0]", "must be a size such as 1024x1024"],
      ["modles", "is no field here"]
    ] as const) {
      expect(
        issues.filter((issue) => issue.startsWith(`${path} `) && issue.includes(words)),
        path
      ).toHaveLength(1)
    }
    expect(issues).toHaveLength(14)
  })

  it("refuses addresses that are none or carry more than one", () => {
    for (const base_url of [
      "ftp://h/v1",
      "http://",
      "http://user:pw@h/v1",
      `http://${SECRET}@h/v1`,
      "http://h/v1?key=1",
      "http://h/v1#x",
      "http://h:99999/v1",
      "http://h\\v1",
      "http://h /v1",
      "//h/v1",
      "",
      7
    ]) {
      const issues = issuesOf([chatEntry([{ base_url }])])
      expect([base_url, issues.length]).toEqual([base_url, 1])
      expect(issues[0]).toMatch(/^models\[0\]\.upstreams\[0\]\.base_url must be /)
      expect(issues[0]).not.toContain(SECRET)
    }
  })

  it("never repeats what might be a key, wherever it was put", () => {
    for (const models of [
      [chatEntry([{ ...upstream, api_key_env: SECRET }])],
      // It looks like the name of a variable.
      [chatEntry([{ ...upstream, api_key_env: SECRET.replace("-", "_") }])],
      [chatEntry([{ ...upstream, api_key_env: "BAD_KEY" }])],
      [chatEntry([{ ...upstream, api_key: SECRET }])],
      [chatEntry([upstream], { id: `${SECRET} ` })],
      [chatEntry([upstream], { price_usd: SECRET })],
      [SECRET]
    ]) {
      const issues = issuesOf(models)
      expect(issues.length).toBeGreaterThan(0)
      expect(issues.join()).not.toContain(SECRET.slice(3))
    }
    const offers = Result.getOrThrow(
      servedModelsOf({ models: [chatEntry([{ ...upstream, api_key_env: "GPU_KEY" }])] }, keys)
    )
    expect(inspect(offers, { depth: 9 }) + JSON.stringify(offers.chat[0]!.servers)).not.toContain(SECRET)
  })
})

describe("a catalog's file", () => {
  const directory = Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "sluice-models-"))),
    (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
  )
  const load = (file: string, env: Record<string, string> = {}) =>
    Effect.exit(Layer.build(CatalogSource.layer(file).pipe(Layer.provide(NodeFileSystem.layer)))).pipe(
      Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env }))
    )
  const complaint = (exit: Exit.Exit<unknown, CatalogSource.CatalogInvalid>) => {
    const error = Exit.findErrorOption(exit)
    return error._tag === "Some" ? error.value.message : ""
  }

  it.live("is read with the keys that it names", () =>
    Effect.gen(function* () {
      const file = join(yield* directory, "models.json")
      writeFileSync(file, JSON.stringify({ models: [chatEntry([{ ...upstream, api_key_env: "A_KEY" }])] }))
      const exit = yield* load(file, { A_KEY: SECRET, B_KEY: "other" })
      if (Exit.isFailure(exit)) throw new Error(complaint(exit))
      const offers = Context.get(exit.value, UpstreamCatalog)
      expect(Redacted.value(offers.chat[0]!.servers[0]!.key!)).toBe(SECRET)
      expect(complaint(yield* load(file))).toContain(
        "models[0].upstreams[0].api_key_env names a variable that is not set"
      )
      expect(complaint(yield* load(file, { A_KEY: "" }))).toContain("is not set")
    }).pipe(Effect.scoped)
  )

  it.live("that can't be read is refused in words, without its text", () =>
    Effect.gen(function* () {
      const path = yield* directory
      const write = (text: string) => {
        writeFileSync(join(path, "m.json"), text)
        return load(join(path, "m.json"))
      }
      expect(complaint(yield* load(join(path, "none.json")))).toContain("there is no such file")
      expect(complaint(yield* load(path))).toContain("it is not a file")
      expect(complaint(yield* write(""))).toContain("not JSON")
      expect(complaint(yield* write(" ".repeat(5_000_000)))).toContain("larger than")
      const broken = complaint(yield* write(`{\n  "models": [],\n  "k": "${SECRET}" "x"\n}`))
      expect(broken).toContain("not JSON at line 3, column ")
      expect(broken).not.toContain(SECRET.slice(3, 8))
      const many = complaint(yield* write(JSON.stringify({ models: Array.from({ length: 900 }, () => ({})) })))
      expect(many).toContain("and 800 more mistakes")
    }).pipe(Effect.scoped)
  )

  it("has a schema that editors can use", () => {
    const path = join(import.meta.dirname, "../../../../docs/models.schema.json")
    const { definitions, dialect, schema } = Schema.toJsonSchemaDocument(CatalogFile, { onExcessProperty: "error" })
    const $schema = "https://json-schema.org/draft/2020-12/schema"
    const document = { $schema, title: "Models of Sluice (--models)", ...schema, $defs: definitions }
    expect(dialect).toBe("draft-2020-12")
    // To renew it: SLUICE_WRITE_SCHEMA=1 npm test -- packages/providers
    if (process.env["SLUICE_WRITE_SCHEMA"] === "1") writeFileSync(path, `${JSON.stringify(document, null, 2)}\n`)
    expect(JSON.parse(readFileSync(path, "utf8"))).toEqual(JSON.parse(JSON.stringify(document)))
  })
})
