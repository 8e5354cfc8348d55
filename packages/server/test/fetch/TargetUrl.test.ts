/** URLs that the server may fetch; no alternative spelling of an address passes the check. */
import { describe, expect, it } from "@effect/vitest"
import { redirectOf, targetOf } from "@sluice/server/fetch/TargetUrl"
import { Result } from "effect"
import fc from "fast-check"

const faultOf = (text: string) => {
  const target = targetOf(text)
  return Result.isFailure(target) ? target.failure : undefined
}
const given = (text: string) => Result.getOrThrowWith(targetOf(text), (fault) => new Error(`${text}: ${fault}`))

describe("targetOf", () => {
  it("keeps plain URLs unchanged", () => {
    for (const [text, host, port, path] of [
      ["http://example.com", "example.com", 80, "/"],
      ["https://Example.COM/a.png?b=c%20d#e", "example.com", 443, "/a.png?b=c%20d"],
      ["https://example.com:443/", "example.com", 443, "/"],
      ["http://example.com:80/", "example.com", 80, "/"],
      ["http://example.com:443/", "example.com", 443, "/"],
      ["https://example.com:8443/x", "example.com", 8443, "/x"],
      ["http://1.2.3.4:1024/", "1.2.3.4", 1024, "/"],
      ["http://[2606:4700::1111]:65535/", "2606:4700::1111", 65_535, "/"],
      ["http://[2606:4700::ABCD]/", "2606:4700::abcd", 80, "/"],
      ["https://xn--bcher-kva.example/", "xn--bcher-kva.example", 443, "/"],
      ["https://a_b.c-d.s3.example/x@y:z", "a_b.c-d.s3.example", 443, "/x@y:z"],
      ["http://images/", "images", 80, "/"],
      ["https://example.com?x", "example.com", 443, "/?x"]
    ] as const) {
      expect(given(text), text).toMatchObject({ host, port, path, isSecure: text.toLowerCase().startsWith("https") })
    }
  })

  const byte = fc.nat(255)
  const wide = (text: string) => text.replaceAll(/[0-9.]/g, (one) => String.fromCharCode(one.charCodeAt(0) + 0xfee0))
  const hex = (value: number, upper: boolean) => `0${upper ? "X" : "x"}${value.toString(16)}`
  /** All but the first parts as one number. */
  const joined = (bytes: ReadonlyArray<number>, parts: number) => [
    ...bytes.slice(0, parts - 1),
    bytes.slice(parts - 1).reduce((sum, one) => sum * 256 + one, 0)
  ]
  const part = fc.tuple(fc.constantFrom("decimal", "octal", "hex", "HEX", "padded"), fc.nat(3))
  const written = (value: number, [base, zeros]: readonly [string, number]) => {
    if (base === "octal") return `0${"0".repeat(zeros)}${value.toString(8)}`
    if (base === "hex" || base === "HEX") return hex(value, base === "HEX")
    return base === "padded" ? "0".repeat(zeros + 1) + value : String(value)
  }
  const spelled = fc
    .record({
      bytes: fc.tuple(byte, byte, byte, byte),
      count: fc.integer({ min: 1, max: 4 }),
      parts: fc.tuple(part, part, part, part),
      disguise: fc.constantFrom("none", "dot", "percent", "wide", "mapped", "mapped hex", "compatible")
    })
    .map(({ bytes, count, disguise, parts }) => {
      const usual = bytes.join(".")
      const text = joined(bytes, count)
        .map((value, index) => written(value, parts[index]!))
        .join(".")
      const host = {
        none: text,
        dot: `${usual}.`,
        percent: usual.replace(/[0-9]/, (digit) => `%3${digit}`),
        wide: wide(usual),
        mapped: `[::ffff:${usual}]`,
        "mapped hex": `[0:0:0:0:0:ffff:${((bytes[0] << 8) | bytes[1]).toString(16)}:${((bytes[2] << 8) | bytes[3]).toString(16)}]`,
        compatible: `[::${usual}]`
      }[disguise]
      return { host, usual }
    })

  it("refuses an IPv4 address in every spelling but its usual one", () => {
    let odd = 0
    fc.assert(
      fc.property(spelled, ({ host, usual }) => {
        const isOdd = host !== usual
        if (isOdd) odd++
        expect(String(faultOf(`http://${host}/`)), host).toMatch(isOdd ? /^(host|characters)$/ : /^undefined$/)
      }),
      { numRuns: 5_000 }
    )
    expect(odd).toBeGreaterThan(4_000)
  })

  it("parses any text as exactly its URL, or refuses it", () => {
    const piece = fc.constantFrom(
      "http://",
      "https:",
      "/",
      "\\",
      "@",
      ":",
      "[",
      "]",
      "%",
      "?",
      "#",
      ".",
      "a",
      "1",
      "0x",
      "::",
      " ",
      "é"
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), fc.string({ maxLength: 6 }), (pieces, tail) => {
        const text = pieces.join("") + tail
        const target = targetOf(text)
        if (Result.isFailure(target)) return
        // The request has the path of the text, letter by letter.
        const { host, path, port, isSecure } = target.success
        const authority = text
          .slice(text.indexOf("//") + 2)
          .split(/[/?#]/)[0]!
          .toLowerCase()
        const bare = host.includes(":") ? `[${host}]` : host
        expect([bare, `${bare}:${port}`]).toContain(authority)
        expect(path).toMatch(/^\/[!-~]*$/)
        expect(isSecure).toBe(text.toLowerCase().startsWith("https:"))
      }),
      { numRuns: 5_000 }
    )
  })
})

describe("redirectOf", () => {
  const from = given("https://example.com/a/b?c")
  const to = (location: string) => {
    const target = redirectOf(from, location)
    return Result.isFailure(target) ? target.failure : target.success.href
  }

  it("follows paths and hosts, and refuses URLs that a caller could not give", () => {
    for (const [location, end] of [
      ["x", "https://example.com/a/x"],
      ["/x", "https://example.com/x"],
      ["?x", "https://example.com/a/b?x"],
      ["#x", "https://example.com/a/b?c"],
      ["", "https://example.com/a/b?c"],
      ["../../../x", "https://example.com/x"],
      ["//other.example/x", "https://other.example/x"],
      ["https://other.example:8443/x", "https://other.example:8443/x"],
      ["http://example.com/x", "scheme"],
      ["HTTP://example.com/x", "scheme"],
      ["file:///etc/passwd", "scheme"],
      ["data:image/png;base64,AA", "scheme"],
      ["https:x", "scheme"],
      ["//0x7f.1/", "host"],
      ["https://127.1/", "host"],
      ["//a@example.com/", "userinfo"],
      ["/\\other.example/", "characters"],
      ["\\\\other.example/", "characters"],
      [" https://other.example/", "characters"],
      ["//other.example:22/", "port"]
    ]) {
      expect([location, to(location!)]).toEqual([location, end])
    }
    expect(Result.isSuccess(redirectOf(given("http://example.com/"), "https://example.com/"))).toBe(true)
  })
})
