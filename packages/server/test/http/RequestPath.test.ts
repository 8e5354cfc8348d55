import { describe, expect, it } from "@effect/vitest"
import { requestPath } from "@sluice/server/http/RequestPath"
import fc from "fast-check"

describe("the id of a model in a path", () => {
  it("is one segment, however many slashes it has", () => {
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

  it("is read in one pass over a path of slashes", () => {
    const slashes = "/".repeat(400_000)
    expect(requestPath(`/v1/models/${slashes}x`)).toBe(`/v1/models/${"%2F".repeat(400_000)}x`)
  })

  it("equals the reference implementation, for any path", () => {
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
  it("is reduced to the path", () => {
    expect(requestPath("http://x/api/v1/jobs?limit=1")).toBe("/api/v1/jobs?limit=1")
    expect(requestPath("HTTPS://x:1/v1/models/a/b")).toBe("/v1/models/a%2Fb")
    expect(requestPath("http://x")).toBe("/")
    expect(requestPath("http://x?a=/b")).toBe("/?a=/b")
    expect(requestPath("http://x#/metrics")).toBe("/%23/metrics")
    for (const same of ["/http://x/y", "*", "ftp://x/y", "x"]) expect(requestPath(same)).toBe(same)
  })
})

describe("a path", () => {
  it("ends at its query alone", () => {
    expect(requestPath("/metrics;x")).toBe("/metrics%3Bx")
    expect(requestPath("/a;b=c#d?e;f#g")).toBe("/a%3Bb=c%23d?e;f#g")
    expect(requestPath("/v1/models/a;b/c")).toBe("/v1/models/a%3Bb%2Fc")
  })

  it("has letters decoded, and every other escape unchanged", () => {
    for (let code = 0; code < 256; code++) {
      const hex = code.toString(16).padStart(2, "0")
      const letter = String.fromCharCode(code)
      for (const written of [`%${hex}`, `%${hex.toUpperCase()}`]) {
        expect(requestPath(`/a${written}b?${written}`)).toBe(
          `/a${/^[A-Za-z0-9._~-]$/.test(letter) ? letter : written}b?${written}`
        )
      }
    }
    expect(requestPath("/%761/%6dodels/a/b")).toBe("/v1/models/a%2Fb")
    for (const same of ["/%", "/%6", "/%6g", "/%256d", "/%6%64", "/%61%", "/%C3%A4", "/a?%6d;#"])
      expect(requestPath(same)).toBe(same)
  })

  it("keeps its meaning in its canonical spelling, which is unique", () => {
    const part = fc.constantFrom("/", "?", ";", "#", "a", "%", "%2F", "%25", "%6d", "%36", "%3b", "2", "~")
    fc.assert(
      fc.property(fc.string({ unit: part, maxLength: 12 }), (rest) => {
        const once = requestPath(`/${rest}`)
        expect(requestPath(once)).toBe(once)
        const path = (url: string) =>
          url.split("?", 1)[0]!.replace(/%([\da-f]{2})/gi, (_, hex) => `<${hex.toLowerCase()}>`)
        const all = (url: string) =>
          path(url).replaceAll(";", "<3b>").replaceAll("#", "<23>").replaceAll("<6d>", "m").replaceAll("<36>", "6")
        expect(all(once)).toBe(all(`/${rest}`))
        expect(path(once)).not.toMatch(/[;#]/)
      })
    )
  })
})
