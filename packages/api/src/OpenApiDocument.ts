/**
 * The one OpenAPI document of both surfaces (interface: Versioning; decisions: Running it). Derived from the two contracts;
 * what no endpoint can say is added here: the bearer key, request ids, and what the server's edge answers for every route.
 * Two components of one name must be the same, or the document can't be made.
 */
import type * as HttpApi from "effect/http-api/HttpApi"
import type * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as OpenApi from "effect/http-api/OpenApi"
import { MAX_PAGE, DEFAULT_PAGE } from "@sluice/domain/database/Page"
import { InfraApi } from "./InfraApi.ts"
import { InferenceApi } from "./inference/InferenceApi.ts"

type Json = { readonly [key: string]: unknown }

interface Response {
  description: string
  content?: Json
  headers?: Record<string, Json>
}

interface Operation {
  readonly operationId: string
  readonly requestBody?: unknown
  parameters?: Array<{ name: string; in: string; schema: Json }>
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
  const infra = surface(InfraApi, "Error")
  const inference = surface(InferenceApi, "InferenceError")
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

const surface = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>,
  errorSchema: string
): Surface => {
  const spec = OpenApi.fromApi(api)
  // Component names say what a thing is, not that it is on the wire.
  const { tags, paths, components } = JSON.parse(JSON.stringify(spec).replace(encodedNames, "$1$2$3")) as {
    tags: Surface["tags"]
    paths: Surface["paths"]
    components: { schemas: Surface["schemas"] }
  }
  for (const [method, operation] of Object.values(paths).flatMap((path) => Object.entries(path)))
    complete(method, operation, errorSchema)
  return { tags, paths, schemas: components.schemas }
}

const encodedNames = /("#\/components\/schemas\/|")(\w+?)Encoded(":\{|")/g

const queryIntegers: Readonly<Record<string, Json>> = {
  limit: { type: "integer", minimum: 1, maximum: MAX_PAGE, default: DEFAULT_PAGE },
  offset: { type: "integer", minimum: 0, default: 0, description: "First byte wanted." },
  tail: { type: "integer", minimum: 0, maximum: 1_000_000, description: "Only the last N lines of what there is." }
}

/** Adds what holds for every route. */
const complete = (method: string, operation: Operation, errorSchema: string) => {
  operation.security = [{ bearer: [] }]
  for (const parameter of operation.parameters ?? []) {
    const integer = parameter.in === "query" ? queryIntegers[parameter.name] : undefined
    if (integer !== undefined) parameter.schema = integer
  }
  const content = {
    "application/json": {
      schema: {
        type: "object",
        properties: { error: { $ref: `#/components/schemas/${errorSchema}` } },
        required: ["error"]
      }
    }
  }
  const edge: Record<string, string> = { 500: "Something went wrong on the server" }
  // A POST without a body in the contract reads what is sent all the same, to refuse it.
  if (operation.requestBody !== undefined || method === "post") {
    edge[413] = "The body is too large"
    edge[415] = "The body is not JSON"
  }
  for (const [status, description] of Object.entries(edge)) operation.responses[status] ??= { description, content }
  for (const [status, response] of Object.entries(operation.responses)) {
    response.headers = {
      ...response.headers,
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
