/** The OpenAPI document: it equals the contract, and its references resolve. */
import { describe, expect, it } from "@effect/vitest"
import { NeedsScope } from "@sluice/api/access/InfraAccess"
import { InfraApi } from "@sluice/api/InfraApi"
import { errorCodes } from "@sluice/api/infra/InfraErrors"
import { openApiDocument } from "@sluice/api/OpenApiDocument"
import { Context } from "effect"
import * as HttpApi from "effect/http-api/HttpApi"

const document = openApiDocument()
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation }))
)
const walk = (value: unknown, visit: (key: string, value: unknown) => void): void => {
  if (typeof value !== "object" || value === null) return
  for (const [key, inner] of Object.entries(value)) {
    visit(key, inner)
    walk(inner, visit)
  }
}

describe("openApiDocument", () => {
  it("is 3.1.0 of version 1.0.0 with both surfaces", () => {
    expect([document.openapi, document.info.version]).toEqual(["3.1.0", "1.0.0"])
    for (const path of ["/api/v1/jobs", "/api/v1/jobs/{id}/logs", "/api/v1/billing/usage", "/v1/chat/completions"]) {
      expect(Object.keys(document.paths)).toContain(path)
    }
  })

  it("equals openapi.json (npm test -- packages/api/test/OpenApiDocument.test.ts -u writes it)", async () => {
    await expect(`${JSON.stringify(document, null, 2)}\n`).toMatchFileSnapshot("../../../openapi.json")
  })

  it("resolves every reference and uses every component", () => {
    const used = new Set<string>()
    walk(document, (key, value) => {
      if (key === "$ref") used.add(String(value))
    })
    for (const ref of used) {
      expect(ref).toMatch(/^#\/components\/schemas\/\w+$/)
      expect(document.components.schemas[ref.split("/")[3]!], ref).toBeDefined()
    }
    for (const name of Object.keys(document.components.schemas)) {
      expect(name).not.toMatch(/Encoded/)
      expect(used).toContain(`#/components/schemas/${name}`)
    }
  })

  it("requires a key for every operation, names each once, and describes every answer", () => {
    const ids = operations.map(({ operation }) => operation.operationId)
    expect(new Set(ids).size).toBe(ids.length)
    for (const { path, method, operation } of operations) {
      const at = `${method} ${path}`
      expect(operation.security, at).toEqual([{ bearer: [] }])
      expect(Object.keys(operation.responses), at).toEqual(expect.arrayContaining(["401", "500", "503"]))
      if (path.startsWith("/api/"))
        expect(Object.keys(operation.responses), at).toEqual(expect.arrayContaining(["403", "404", "422"]))
      if (operation.requestBody !== undefined || method === "post")
        expect(Object.keys(operation.responses), at).toContain("413")
      // Bodies of inference are parsed under any content type.
      const isTyped = path.startsWith("/api/") && (operation.requestBody !== undefined || method === "post")
      expect("415" in operation.responses, at).toBe(isTyped)
      for (const [status, response] of Object.entries(operation.responses)) {
        expect(response.description, `${at} ${status}`).not.toBe("")
        const headers = Object.keys(response.headers ?? {})
        expect(headers, `${at} ${status}`).toContain("X-Request-Id")
        const isCounted = path.startsWith("/v1/") && status !== "401"
        expect(headers.filter((name) => name.startsWith("X-RateLimit-")).length, `${at} ${status}`).toBe(
          isCounted ? 3 : 0
        )
      }
      const inHeader = (operation.parameters ?? []).filter(({ in: place }) => place === "header")
      expect(
        inHeader.map(({ name }) => name),
        at
      ).toEqual([
        ...(/\/(download|content)$/.test(path) ? ["Range"] : []),
        "X-Environment",
        ...(method === "post" && (path.startsWith("/api/") || path === "/v1/videos") ? ["Idempotency-Key"] : [])
      ])
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1])
      const declared = (operation.parameters ?? [])
        .filter((parameter) => parameter.in === "path")
        .map(({ name }) => name)
      expect(declared, at).toEqual(inPath)
    }
  })

  it("names every content type of speech, transcripts and videos", () => {
    const typesOf = (path: string, status: string) => {
      const operation = document.paths[path]!
      return Object.keys((operation["post"] ?? operation["get"])!.responses[status]!.content!)
    }
    expect(typesOf("/v1/audio/speech", "200")).toEqual(["audio/mpeg", "audio/pcm", "audio/wav", "text/event-stream"])
    expect(typesOf("/v1/audio/transcriptions", "200")).toEqual(["application/json", "text/plain", "text/event-stream"])
    for (const status of ["200", "206"]) expect(typesOf("/v1/videos/{id}/download", status)).toEqual(["video/mp4"])
  })

  it("gives every endpoint of the infrastructure surface a scope of its method's kind", () => {
    let count = 0
    HttpApi.reflect(InfraApi, {
      onGroup: () => {},
      onEndpoint: ({ endpoint }) => {
        const scope = Context.getOrUndefined(endpoint.annotations as Context.Context<NeedsScope>, NeedsScope)
        expect(scope, endpoint.path).toBeDefined()
        const reads = endpoint.method === "GET" || endpoint.path === "/api/v1/jobs/quote"
        expect(scope, `${endpoint.method} ${endpoint.path}`).toMatch(reads ? /:read$/ : /:write$/)
        count += 1
      }
    })
    expect(count).toBeGreaterThan(20)
  })

  it("documents the event form of a log, and no wrong page size of a list", () => {
    const { get: logs } = document.paths["/api/v1/jobs/{id}/logs"]!
    expect(Object.keys(logs!.responses["200"]!.content!).sort()).toEqual([
      "text/event-stream",
      "text/plain; charset=utf-8"
    ])
    for (const path of ["/api/v1/templates", "/api/v1/jobs"]) {
      const limit = document.paths[path]!.get!.parameters!.find(({ name }) => name === "limit")
      // One list comes whole, the other in pages of 20: no single number is true of both.
      expect(limit!.schema).toMatchObject({ type: "integer", minimum: 1, maximum: 100 })
      expect(limit!.schema).not.toHaveProperty("default")
    }
  })

  it("documents POST /jobs/quote without the errors of money and unknown machines", () => {
    const statuses = Object.keys(document.paths["/api/v1/jobs/quote"]!.post!.responses)
    expect(statuses).toContain("503")
    expect(statuses).not.toContain("402")
  })

  it("answers POST /jobs with the statuses of the interface", () => {
    const statuses = Object.keys(document.paths["/api/v1/jobs"]!.post!.responses)
    expect(statuses).toEqual(expect.arrayContaining(["201", "401", "402", "404", "409", "422", "500", "503"]))
    for (const status of Object.values(errorCodes)) expect(status).toBeGreaterThanOrEqual(400)
  })
})
