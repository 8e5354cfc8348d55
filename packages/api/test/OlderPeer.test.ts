/** Clients and servers of two versions understand each other: a field that is missing or new breaks no answer. */
import { describe, expect, it } from "@effect/vitest"
import { InfraApi } from "@sluice/api/InfraApi"
import { infraClient } from "@sluice/api/InfraClient"
import { InferenceApi } from "@sluice/api/inference/InferenceApi"
import { ChatChunkWire } from "@sluice/api/inference/chat/ChatWire"
import { ResponseEventWire } from "@sluice/api/inference/responses/ResponseEventWire"
import { JobWire } from "@sluice/api/jobs/JobWire"
import { openApiDocument } from "@sluice/api/OpenApiDocument"
import { Context, Effect, Redacted, Schema } from "effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as HttpApi from "effect/http-api/HttpApi"
import type * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as OpenApi from "effect/http-api/OpenApi"
import { type Sample, samplesOf, valueAt, without } from "./support/AnswerSamples.ts"

interface Reader {
  readonly operationId: string
  /** Decodes an answer as the client does; fails where the client does not work. */
  readonly decode: (answer: unknown) => Effect.Effect<unknown, unknown>
}

const job = { command: "true", gpu_type: "H100", max_runtime_minutes: 1 }
/** The smallest body of each endpoint that needs one. */
const payloads: Readonly<Record<string, unknown>> = {
  createJob: job,
  quoteJob: job,
  createVolume: { name: "v", region: "eu-north", size_gb: 1 },
  growVolume: { size_gb: 2 },
  createApiKey: { name: "k" },
  updateApiKey: { name: "k" },
  updateEnvironment: { monthly_budget_usd: null }
}

type Call = (request: unknown) => Effect.Effect<unknown, unknown>

/** The typed client over a server that gives `answer` to whatever it is asked. */
const clientOver = (status: number, answer: unknown) =>
  infraClient({ origin: "http://127.0.0.1:8080", key: Redacted.make("svc_live_x") }).pipe(
    Effect.provideService(
      HttpClient.HttpClient,
      HttpClient.make((request) =>
        Effect.succeed(HttpClientResponse.fromWeb(request, Response.json(answer, { status })))
      )
    ),
    Effect.map((client) => client as unknown as Readonly<Record<string, Readonly<Record<string, Call>>>>)
  )

const idOf = ({ annotations }: HttpApiEndpoint.Top) =>
  Context.get(annotations as Context.Context<OpenApi.Identifier>, OpenApi.Identifier)

const infra: Array<Reader> = []
HttpApi.reflect(InfraApi, {
  onGroup: () => {},
  onEndpoint: ({ endpoint, group, successes }) => {
    const operationId = idOf(endpoint)
    const [status] = [...successes.keys()]
    infra.push({
      operationId,
      decode: (answer) =>
        Effect.flatMap(clientOver(status!, answer), (client) =>
          client[group.identifier]![endpoint.identifier]!({
            params: { id: "x" },
            query: {},
            payload: payloads[operationId]
          })
        )
    })
  }
})

const inference: Array<Reader> = []
HttpApi.reflect(InferenceApi, {
  onGroup: () => {},
  onEndpoint: ({ endpoint, successes }) => {
    const bodies = Schema.Union([...successes.values()].flat().filter((schema) => Schema.isSchema(schema))) as unknown
    inference.push({
      operationId: idOf(endpoint),
      decode: Schema.decodeUnknownEffect(bodies as Schema.Decoder<unknown>)
    })
  }
})

const document = openApiDocument()
const bodiesOf = (id: string): ReadonlyArray<Sample> =>
  Object.values(document.paths)
    .flatMap((path) => Object.values(path))
    .filter(({ operationId }) => operationId === id)
    .flatMap(({ responses }) => [responses[200], responses[201]])
    .flatMap((response) => {
      const json = response?.content?.["application/json"] as { readonly schema: object } | undefined
      return json === undefined ? [] : samplesOf(json.schema, document.components.schemas)
    })

/** The events of streams; the document shows them as text. */
const eventCases = Object.entries({ ChatChunkWire, ResponseEventWire }).flatMap(([operationId, wire]) => {
  const { definitions, schema } = Schema.toJsonSchemaDocument(wire)
  const reader: Reader = { operationId, decode: Schema.decodeUnknownEffect(wire as Schema.Decoder<unknown>) }
  return samplesOf(schema, definitions).map((sample) => [reader, sample] as const)
})

const readers = [...infra, ...inference]
const cases = [
  ...readers.flatMap((reader) => bodiesOf(reader.operationId).map((sample) => [reader, sample] as const)),
  ...eventCases
]
const answers = cases.map(([reader, sample], index) => {
  const before = cases.slice(0, index).filter(([other]) => other === reader)
  return [`${reader.operationId} ${before.length + 1}`, reader, sample] as const
})

const readsWithout = ({ decode }: Reader, { nullable, value }: Sample) =>
  Effect.forEach(nullable, (path) =>
    Effect.map(Effect.result(decode(without(value, path))), (read) => {
      expect(read, `without ${path.join(".")}`).toMatchObject({ _tag: "Success" })
      if (read._tag === "Success") expect(valueAt(read.success, path), path.join(".")).toBeNull()
    })
  )

describe("the client of an answer", () => {
  it("covers every endpoint that answers with JSON", () => {
    const covered = new Set(cases.map(([{ operationId }]) => operationId))
    expect(readers.map(({ operationId }) => operationId).filter((id) => !covered.has(id))).toEqual([
      "getJobLogs",
      "deleteVolume",
      "deleteApiKey",
      "createSpeech",
      "downloadVideo",
      "getVideoContent"
    ])
    expect(cases.flatMap(([, { nullable }]) => nullable).length).toBeGreaterThan(100)
  })

  it.effect.each(answers)("%s reads each missing nullable field as null", ([, reader, sample]) =>
    readsWithout(reader, sample)
  )

  it.effect.each(answers)("%s ignores a field that it does not know", ([, { decode }, { grown, value }]) =>
    Effect.gen(function* () {
      expect(yield* decode(grown)).toEqual(yield* decode(value))
    })
  )

  it("reads missing lists and counts as empty", () => {
    const [sample] = bodiesOf("createJob")
    const job = ["env_keys", "log_bytes", "logs_truncated"].reduce(
      (left, field) => without(left, [field]),
      valueAt(sample!.value, ["data"])
    )
    expect(Schema.decodeUnknownSync(JobWire)(job)).toMatchObject({ env_keys: [], log_bytes: 0, logs_truncated: false })
  })

  it("refuses an answer without a field that every server sends", () => {
    const [sample] = bodiesOf("createJob")
    expect(() => Schema.decodeUnknownSync(JobWire)(without(valueAt(sample!.value, ["data"]), ["id"]))).toThrow(
      "Missing key"
    )
  })
})
