/**
 * The one OpenAPI document of both surfaces (interface: Versioning; decisions: Running it). Derived from the two contracts;
 * what no endpoint can say is added here: the bearer key, headers that all read, request ids, and what the server's edge
 * answers for every route. Two components of one name must be the same, or the document can't be made.
 */
import type * as HttpApi from "effect/http-api/HttpApi"
import type * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as OpenApi from "effect/http-api/OpenApi"
import { MAX_PAGE, DEFAULT_PAGE } from "@sluice/domain/database/Page"
import { MAX_IDEMPOTENCY_KEY } from "@sluice/domain/idempotency/IdempotencyKey"
import { InfraApi } from "./InfraApi.ts"
import { InferenceApi } from "./inference/InferenceApi.ts"

type Json = { readonly [key: string]: unknown }

interface Response {
  description: string
  content?: Json
  headers?: Record<string, Json>
}

interface Parameter {
  readonly name: string
  readonly in: string
  readonly schema: Json
  readonly required: boolean
  readonly description?: string
}

interface Operation {
  readonly operationId: string
  readonly requestBody?: unknown
  parameters?: ReadonlyArray<Parameter>
  security?: ReadonlyArray<Json>
  responses: Record<string, Response>
}

export interface OpenApiDocument {
  readonly openapi: "3.1.0"
  readonly info: Json
  readonly tags: ReadonlyArray<{ readonly name: string }>
  readonly security: ReadonlyArray<Json>
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Json>>; readonly securitySchemes: Json }
}

/** The document of both surfaces; made anew at each call, so ask once. */
export const openApiDocument = (): OpenApiDocument => {
  const infra = surface(InfraApi, {
    errorSchema: "Error",
    posts: { 415: "The body is not JSON" },
    isOnceOnly: (method) => method === "post",
    known: {}
  })
  const inference = surface(InferenceApi, {
    errorSchema: "InferenceError",
    posts: {},
    isOnceOnly: (_, { operationId }) => operationId === "createVideo",
    known: rateHeaders
  })
  return {
    openapi: "3.1.0",
    info: {
      title: "Sluice",
      version: "1.0.0",
      description: "Compute and inference: GPU machines and models behind one API key.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" }
    },
    tags: [...inference.tags, ...infra.tags],
    security: [{ bearer: [] }],
    paths: { ...inference.paths, ...infra.paths },
    components: {
      schemas: merged(inference.schemas, infra.schemas),
      securitySchemes: {
        bearer: {
          type: "http",
          scheme: "bearer",
          description: "An API key: `svc_live_...`. One key for both surfaces."
        }
      }
    }
  }
}

interface Surface {
  readonly tags: ReadonlyArray<{ readonly name: string }>
  readonly paths: Record<string, Record<string, Operation>>
  readonly schemas: Record<string, Json>
}

/** In what the two differ. */
interface Manner {
  readonly errorSchema: string
  /** What the edge answers to bodies of this surface alone. */
  readonly posts: Readonly<Record<number, string>>
  /** Whether an `Idempotency-Key` counts. */
  readonly isOnceOnly: (method: string, operation: Operation) => boolean
  /** On every answer to a known key. */
  readonly known: Readonly<Record<string, Json>>
}

const rateHeaders = {
  "X-RateLimit-Limit": { schema: { type: "integer" }, description: "Requests that the key may make in a minute." },
  "X-RateLimit-Remaining": { schema: { type: "integer" }, description: "Those that are left in this window." },
  "X-RateLimit-Reset": { schema: { type: "integer" }, description: "Unix time in seconds at which it ends." }
}

const header = (name: string, description: string, schema: Json = {}): Parameter => ({
  name,
  in: "header",
  schema: { type: "string", description, ...schema },
  required: false
})
const xEnvironment = header("X-Environment", "Environment, by id or name. Default: the key's own, else `default`.")
const idempotencyKey = header(
  "Idempotency-Key",
  "The same request under the same key has the first answer again, for 24 h.",
  { minLength: 1, maxLength: MAX_IDEMPOTENCY_KEY }
)

const surface = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>,
  manner: Manner
): Surface => {
  const spec = OpenApi.fromApi(api)
  // Component names say what a thing is, not that it is on the wire.
  const { tags, paths, components } = JSON.parse(JSON.stringify(spec).replace(encodedNames, "$1$2$3")) as {
    tags: Surface["tags"]
    paths: Surface["paths"]
    components: { schemas: Surface["schemas"] }
  }
  for (const [method, operation] of Object.values(paths).flatMap((path) => Object.entries(path)))
    complete(method, operation, manner)
  return { tags, paths, schemas: components.schemas }
}

const encodedNames = /("#\/components\/schemas\/|")(\w+?)Encoded(":\{|")/g

const queryIntegers: Readonly<Record<string, Json>> = {
  limit: {
    type: "integer",
    minimum: 1,
    maximum: MAX_PAGE,
    description: `Default ${DEFAULT_PAGE}; templates, regions and GPU types come whole.`
  },
  offset: { type: "integer", minimum: 0, default: 0, description: "First byte wanted." },
  tail: { type: "integer", minimum: 0, maximum: 1_000_000, description: "Only the last N lines of what there is." }
}

/** Adds what holds for every route. */
const complete = (method: string, operation: Operation, { errorSchema, isOnceOnly, known, posts }: Manner) => {
  operation.security = [{ bearer: [] }]
  const declared = (operation.parameters ?? []).map((parameter) => {
    const isBare = parameter.in === "query" && parameter.description === undefined
    const integer = isBare ? queryIntegers[parameter.name] : undefined
    return integer === undefined ? parameter : { ...parameter, schema: integer }
  })
  operation.parameters = [...declared, xEnvironment, ...(isOnceOnly(method, operation) ? [idempotencyKey] : [])]
  const content = {
    "application/json": {
      schema: {
        type: "object",
        properties: { error: { $ref: `#/components/schemas/${errorSchema}` } },
        required: ["error"]
      }
    }
  }
  const edge: Record<string, string> = {
    500: "Something went wrong on the server",
    503: "The server or its database can't serve this at present"
  }
  // A POST without a body in the contract reads what is sent all the same, to refuse it.
  if (operation.requestBody !== undefined || method === "post") {
    Object.assign(edge, { 413: "The body is too large" }, posts)
  }
  for (const [status, description] of Object.entries(edge)) operation.responses[status] ??= { description, content }
  for (const [status, response] of Object.entries(operation.responses)) {
    response.headers = {
      ...response.headers,
      ...(status === "401" ? {} : known),
      "X-Request-Id": { schema: { type: "string" }, description: "Name it when you ask about this request." },
      ...(status === "429" || status === "503" ? { "Retry-After": { schema: { type: "integer" } } } : {})
    }
  }
}

/** Both sets of components; one name never stands for two things. */
const merged = (a: Surface["schemas"], b: Surface["schemas"]): Surface["schemas"] => {
  for (const name of Object.keys(a)) {
    if (name in b && JSON.stringify(a[name]) !== JSON.stringify(b[name])) {
      throw new Error(`Two components are called ${name}: give one of them another identifier.`)
    }
  }
  return { ...a, ...b }
}
