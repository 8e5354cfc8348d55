/**
 * Sends requests that mutation makes from the OpenAPI document to the whole server. The suite fails on a 500, on a status or a body
 * that the document does not have, and where the server does not answer afterwards. A failure names its seed and its request.
 */
import { expect, layer } from "@effect/vitest"
import { openApiDocument } from "@sluice/api/OpenApiDocument"
import { Effect } from "effect"
import { TestServer, testServer } from "@sluice/testing/servers/TestServer"
import { type Chance, chanceOf } from "./Chance.ts"
import { misfit, type Schemas } from "./JsonSchema.ts"
import { type FuzzRequest, type Known, operationsOf, requestOf } from "./Requests.ts"

const AT_ONCE = 8
/** Ids remembered: what exists is asked for more often than what does not. */
const MAX_IDS = 200
/** Ends a request that hangs, which is a finding. An answer takes milliseconds, on a busy machine seconds. */
const PATIENCE_MS = 60_000

const document = openApiDocument()
const schemas = document.components.schemas as Schemas
// Requests that remove the key or the budget would end the run. Both have their own tests.
const SPARED = /^\/api\/v1\/(api-keys\/|environments\/)/
const operations = operationsOf(document)

/** Defines the suite with `count` requests of `seed`. */
export const fuzzWith = (count: number, seed: number) =>
  layer(testServer, { excludeTestServices: true, timeout: "5 minutes" })("any request", (it) => {
    it.effect(
      `has an answer of the document, ${count} of them from seed ${seed}`,
      () =>
        Effect.gen(function* () {
          const { alice, ask, origin } = yield* TestServer
          const key = (yield* ask("/api/v1/api-keys", { body: { name: "fuzz", rate_limit_rpm: 1_000_000 } })).json.data
            .key
          const speech = { model: "sluice-voice", input: "one two three", response_format: "wav" }
          const sound = yield* Effect.promise(async () => {
            const headers = { authorization: `Bearer ${alice.key}`, "content-type": "application/json" }
            const response = await fetch(`${origin}/v1/audio/speech`, {
              method: "POST",
              headers,
              body: JSON.stringify(speech)
            })
            return new Uint8Array(await response.arrayBuffer())
          })
          const ids: Array<string> = []
          const seen = new Map<string, number>()
          const faults: Array<string> = []
          const one = (index: number) =>
            Effect.promise(async () => {
              const chance = chanceOf(Math.imul(seed, 0x9e3779b1) ^ index)
              const operation = chance.pick(operations)
              const spared = SPARED.test(operation.path) ? [] : ids
              const known: Known = { schemas, ids: spared, sound, hint: (name) => hintOf(name, chance, ids) }
              const request = requestOf(operation, known, chance)
              const fault = await answered(origin, key, request, ids, seen)
              if (fault !== undefined) faults.push(`seed ${seed}, request ${index}: ${shown(request)}\n  ${fault}`)
            })
          yield* Effect.forEach(
            Array.from({ length: count }, (_, index) => index),
            one,
            {
              concurrency: AT_ONCE,
              discard: true
            }
          )
          expect(faults.slice(0, 10)).toEqual([])
          // A fuzzer that is only refused finds nothing.
          const happy = [...seen]
            .filter(([status]) => status.startsWith("2"))
            .reduce((sum, [, count]) => sum + count, 0)
          expect(happy).toBeGreaterThan(count / 20)
          expect((yield* ask("/api/v1/jobs")).status).toBe(200)
        }),
      { timeout: 60_000 + count * 20 }
    )
  })

/** Returns the fault of the answer; undefined if there is none. */
const answered = async (
  origin: string,
  key: string,
  { body, headers, operation, url }: FuzzRequest,
  ids: Array<string>,
  seen: Map<string, number>
): Promise<string | undefined> => {
  let response: Response
  try {
    response = await fetch(origin + url, {
      method: operation.method,
      headers: { ...headers, authorization: `Bearer ${key}` },
      signal: AbortSignal.timeout(PATIENCE_MS),
      ...(body === undefined ? {} : { body })
    })
  } catch (error) {
    return `no answer: ${String(error)}`
  }
  const bytes = await response.arrayBuffer()
  const status = String(response.status)
  seen.set(status, (seen.get(status) ?? 0) + 1)
  if (status === "500") return `500: ${new TextDecoder().decode(bytes).slice(0, 300)}`
  const contents = operation.responses[status]
  // Paths that a mutated id has made another one end at the router.
  const strange = status === "404" || status === "405" || status === "206"
  if (contents === undefined) return strange ? undefined : `status ${status} is not in the document`
  const type = response.headers.get("content-type")?.split(";", 1)[0] ?? ""
  if (type !== "application/json") return undefined
  const value: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes))
  const schema = contents["application/json"]
  remember(value, ids)
  const wrong = schema === undefined ? undefined : misfit(value, schema, schemas)
  return wrong === undefined ? undefined : `status ${status}: ${wrong}\n  ${JSON.stringify(value).slice(0, 400)}`
}

const remember = (value: unknown, ids: Array<string>) => {
  const data = (value as { readonly data?: unknown } | null)?.data ?? value
  const id = (data as { readonly id?: unknown } | null)?.id
  if (typeof id === "string" && !ids.includes(id)) ids.push(id)
  if (ids.length > MAX_IDS) ids.shift()
}

const MODELS = [
  "sluice-small",
  "sluice-free",
  "sluice-vision",
  "sluice-embed-small",
  "sluice-image",
  "sluice-voice",
  "sluice-listen",
  "sluice-film"
]

const hintOf = (name: string, chance: Chance, ids: ReadonlyArray<string>): unknown => {
  switch (name) {
    case "model":
      return chance.pick(MODELS)
    case "gpu_type":
      return "H100"
    case "region":
      return "us-east"
    case "storage_id":
      return ids.length === 0 ? undefined : chance.pick(ids)
    case "max_runtime_minutes":
      return 1 + chance.below(5)
    case "size":
      return chance.pick(["256x256", "640x368"])
    case "n":
      return 1
    case "max_cost_usd":
      return 5
    default:
      return undefined
  }
}

const shown = ({ body, headers, operation, url }: FuzzRequest): string => {
  const text =
    body instanceof FormData ? JSON.stringify([...body]) : body instanceof Uint8Array ? `${body.length} bytes` : body
  return `${operation.method} ${url.slice(0, 300)} ${JSON.stringify(headers).slice(0, 200)} ${(text ?? "").slice(0, 600)}`
}
