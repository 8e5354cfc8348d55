import { describe, expect, it } from "@effect/vitest"
import { requestPath } from "@sluice/server/http/RequestPath"
import fc from "fast-check"

describe("the id of a model in a path", () => {
  it("is one segment, whatever slashes it has", () => {
    const told = requestPath
    expect(told("/v1/models/meta-llama/Llama-3.1-8B")).toBe("/v1/models/meta-llama%2FLlama-3.1-8B")
    expect(told("/v1/models/a/b/?x=/y/")).toBe("/v1/models/a%2Fb?x=/y/")
    for (const same of [
      "/v1/models",
      "/v1/models/",
      "/v1/models//",
      "/v1/models/a",
      "/v1/models/a/",
      "/v1/models?a=/b/c"
    ]) {
      expect(told(same)).toBe(same)
    }
  })

  it("takes a path of slashes in one pass", () => {
    const slashes = "/".repeat(400_000)
    expect(requestPath(`/v1/models/${slashes}x`)).toBe(`/v1/models/${"%2F".repeat(400_000)}x`)
  })

  it("equals the rule in words, for any path", () => {
    const path = fc.string({ unit: fc.constantFrom("/", "?", "a", "%2F", "."), maxLength: 12 })
    fc.assert(
      fc.property(path, (rest) => {
        const [before = "", ...query] = rest.split("?")
        const id = before.split("/").reduceRight((all, part) => (all === "" ? part : `${part}/${all}`), "")
        const whole = id.includes("/")
          ? `/v1/models/${id.split("/").join("%2F")}${query.length > 0 ? `?${query.join("?")}` : ""}`
          : `/v1/models/${rest}`
        expect(requestPath(`/v1/models/${rest}`)).toBe(whole)
      })
    )
  })
})

describe("a path that names the server", () => {
  it("is the path alone", () => {
    expect(requestPath("http://x/api/v1/jobs?limit=1")).toBe("/api/v1/jobs?limit=1")
    expect(requestPath("HTTPS://x:1/v1/models/a/b")).toBe("/v1/models/a%2Fb")
    expect(requestPath("http://x")).toBe("/")
    expect(requestPath("http://x?a=/b")).toBe("/?a=/b")
    for (const same of ["/http://x/y", "*", "ftp://x/y", "x"]) expect(requestPath(same)).toBe(same)
  })
})
