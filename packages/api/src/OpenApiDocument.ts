/**
 * Builds the OpenAPI document of both surfaces from their contracts (interface: Versioning; decisions: Running it). It
 * adds what no endpoint declares: the bearer key, common headers, request ids, and the errors of the server's edge.
 * Throws when two components of one name differ.
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

/** Returns the document of both surfaces. Each call builds it anew, so keep the result. */
export const openApiDocument = (): OpenApiDocument => {
  const infra = surface(InfraApi, {
    errorSchema: "Error",
    bodyErrors: { 415: "The body is not JSON" },
    isIdempotent: (method) => method === "post",
    authenticatedHeaders: {}
  })
  const inference = surface(InferenceApi, {
    errorSchema: "InferenceError",
    bodyErrors: {},
    isIdempotent: (_, { operationId }) => operationId === "createVideo",
    authenticatedHeaders: rateHeaders
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
      schemas: mergeSchemas(inference.schemas, infra.schemas),
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

/** The differences between the two surfaces. */
interface SurfaceOptions {
  readonly errorSchema: string
  /** Errors of the edge for requests with a body, on this surface only. */
  readonly bodyErrors: Readonly<Record<number, string>>
  /** True where the operation accepts an `Idempotency-Key`. */
  readonly isIdempotent: (method: string, operation: Operation) => boolean
  /** Headers of every response to a valid key. */
  readonly authenticatedHeaders: Readonly<Record<string, Json>>
}

const rateHeaders = {
  "X-RateLimit-Limit": { schema: { type: "integer" }, description: "Requests per minute that the key may make." },
  "X-RateLimit-Remaining": { schema: { type: "integer" }, description: "Requests left in the current window." },
  "X-RateLimit-Reset": { schema: { type: "integer" }, description: "Unix time in seconds at which the window ends." }
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
  "A repeated request with the same key gets the first response again, for 24 h.",
  { minLength: 1, maxLength: MAX_IDEMPOTENCY_KEY }
)

const surface = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>,
  options: SurfaceOptions
): Surface => {
  const spec = OpenApi.fromApi(api)
  // Component names name the value and not its encoding.
  const { tags, paths, components } = JSON.parse(JSON.stringify(spec).replace(encodedNames, "$1$2$3")) as {
    tags: Surface["tags"]
    paths: Surface["paths"]
    components: { schemas: Surface["schemas"] }
  }
  for (const [method, operation] of Object.values(paths).flatMap((path) => Object.entries(path)))
    addCommonParts(method, operation, options)
  return { tags, paths, schemas: components.schemas }
}

const encodedNames = /("#\/components\/schemas\/|")(\w+?)Encoded(":\{|")/g

const queryIntegers: Readonly<Record<string, Json>> = {
  limit: {
    type: "integer",
    minimum: 1,
    maximum: MAX_PAGE,
    description: `Default ${DEFAULT_PAGE}; by default, lists of templates, regions and GPU types are complete.`
  },
  offset: { type: "integer", minimum: 0, default: 0, description: "Offset of the first byte." },
  tail: { type: "integer", minimum: 0, maximum: 1_000_000, description: "Only the last N lines of the log so far." }
}

/** Adds the parameters, headers and errors of every route. */
const addCommonParts = (
  method: string,
  operation: Operation,
  { errorSchema, isIdempotent, authenticatedHeaders, bodyErrors }: SurfaceOptions
) => {
  operation.security = [{ bearer: [] }]
  const declared = (operation.parameters ?? []).map((parameter) => {
    const isBare = parameter.in === "query" && parameter.description === undefined
    const integer = isBare ? queryIntegers[parameter.name] : undefined
    return integer === undefined ? parameter : { ...parameter, schema: integer }
  })
  operation.parameters = [...declared, xEnvironment, ...(isIdempotent(method, operation) ? [idempotencyKey] : [])]
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
    500: "The server failed to handle the request",
    503: "The server or its database is temporarily unavailable"
  }
  // A POST without a body in the contract still reads a sent body, to refuse it.
  if (operation.requestBody !== undefined || method === "post") {
    Object.assign(edge, { 413: "The body is too large" }, bodyErrors)
  }
  for (const [status, description] of Object.entries(edge)) operation.responses[status] ??= { description, content }
  for (const [status, response] of Object.entries(operation.responses)) {
    response.headers = {
      ...response.headers,
      ...(status === "401" ? {} : authenticatedHeaders),
      "X-Request-Id": {
        schema: { type: "string" },
        description: "The id of this request; state it when you report a problem."
      },
      ...(status === "429" || status === "503" ? { "Retry-After": { schema: { type: "integer" } } } : {})
    }
  }
}

/** Merges both sets of components. Throws when one name stands for two schemas. */
const mergeSchemas = (a: Surface["schemas"], b: Surface["schemas"]): Surface["schemas"] => {
  for (const name of Object.keys(a)) {
    if (name in b && JSON.stringify(a[name]) !== JSON.stringify(b[name])) {
      throw new Error(`Two components are called ${name}: give one of them another identifier.`)
    }
  }
  return { ...a, ...b }
}
