/** Safe fetches over real sockets: no spelling, redirect or second answer of a resolver reaches a private address. */
import { describe, expect, it } from "@effect/vitest"
import { FetchFailed } from "@sluice/server/fetch/FetchFailed"
import { Effect, Result } from "effect"
import * as tls from "node:tls"
import { certificateFor, client, origin, OUTSIDE, PIXEL, pixel, reasonOf } from "./support/Origin.ts"
import { SPELLINGS } from "./support/Spellings.ts"

const INSIDE: Readonly<Record<string, ReadonlyArray<string>>> = {
  localhost: ["127.0.0.1"],
  "metadata.inside": ["169.254.169.254"],
  "127.0.0.1.nip.inside": ["127.0.0.1"],
  "public-and-private.mixed": ["93.184.215.14", "127.0.0.1"],
  "mapped.inside": ["::ffff:127.0.0.1"]
}

describe("SafeFetch", () => {
  it.live("reaches no private address by any spelling", () =>
    Effect.gen(function* () {
      const inside = yield* origin(pixel)
      const looked: Array<string> = []
      const names = (name: string) =>
        Effect.sync(() => {
          looked.push(name)
          return INSIDE[name] ?? []
        })
      const get = yield* client({ names })
      const lenient = yield* client({ names, hasPrivateTargets: true })
      for (const [spelling, reason] of SPELLINGS) {
        const url = spelling.replaceAll("PORT", String(inside.port))
        looked.length = 0
        expect([url, yield* reasonOf(get(url))]).toEqual([url, reason])
        if (reason === "unreachable") continue
        // Only the address may be private with that option; an odd spelling stays refused, and no name is looked up.
        expect([url, yield* reasonOf(lenient(url))]).toEqual([url, reason])
        expect(looked).toEqual([])
      }
      expect(inside.connections()).toBe(0)
      const plain = yield* lenient(`http://127.0.0.1:${inside.port}/`)
      expect([plain.bytes.equals(PIXEL), inside.connections()]).toEqual([true, 1])
      console.log(`${SPELLINGS.length} spellings, ${SPELLINGS.length} refused, 0 connections`)
      expect(SPELLINGS.length).toBeGreaterThan(60)
    }).pipe(Effect.scoped)
  )

  it.live("gives one reason for private addresses, missing addresses and servers that do not answer", () =>
    Effect.gen(function* () {
      const inside = yield* origin(pixel)
      const silent = yield* origin(() => {})
      const odd = yield* origin((request) => request.socket.end("SSH-2.0-OpenSSH_9.2\r\n"))
      const away = yield* origin((_, response) =>
        response.writeHead(302, { location: `http://127.0.0.1:${silent.port}/` }).end()
      )
      const get = yield* client({ allows: OUTSIDE, limitMs: 300, names: () => Effect.succeed([]) })
      const told = yield* Effect.forEach(
        [
          `http://127.0.0.2:${inside.port}/`,
          "http://10.0.0.1/",
          "http://no-such-name.example/",
          "http://127.0.0.1:1024/",
          `http://127.0.0.1:${silent.port}/`,
          `http://127.0.0.1:${odd.port}/`,
          `http://127.0.0.1:${away.port}/`
        ],
        (url) => Effect.map(Effect.result(get(url)), Result.getFailure)
      )
      expect(new Set(told.map((failure) => JSON.stringify(failure))).size).toBe(1)
      expect(told[0]).toMatchObject({ value: new FetchFailed({ reason: "unreachable" }) })
      expect(inside.connections()).toBe(0)
    }).pipe(Effect.scoped)
  )

  it.live("checks each redirect anew and follows three", () =>
    Effect.gen(function* () {
      const inside = yield* origin(pixel, { host: "127.0.0.2" })
      const server = yield* origin((request, response) => {
        const url = new URL(request.url ?? "", "http://x")
        const left = Number(url.searchParams.get("hops"))
        if (url.pathname === "/nowhere") return response.writeHead(302).end()
        const location =
          url.pathname === "/loop" ? "/loop" : left > 0 ? `/r?hops=${left - 1}` : url.searchParams.get("to")
        if (location === null) return pixel(request, response)
        response.writeHead([301, 302, 303, 307, 308][left]!, { location, "set-cookie": "a=b" }).end("moved")
      })
      const looked: Array<string> = []
      const get = yield* client({
        allows: OUTSIDE,
        names: (name) =>
          Effect.sync(() => (looked.push(name), name === "inside.example" ? ["127.0.0.2"] : ["127.0.0.1"]))
      })
      const from = `http://127.0.0.1:${server.port}/r`
      const to = (location: string) => reasonOf(get(`${from}?to=${encodeURIComponent(location)}`))
      expect((yield* get(`${from}?hops=3`)).bytes.equals(PIXEL)).toBe(true)
      expect(yield* reasonOf(get(`${from}?hops=4`))).toBe("redirect")
      expect(yield* reasonOf(get(`http://127.0.0.1:${server.port}/loop`))).toBe("redirect")
      expect(yield* reasonOf(get(`http://127.0.0.1:${server.port}/nowhere`))).toBe("redirect")
      expect(server.asked.length).toBe(4 + 4 + 4 + 1)
      for (const [location, reason] of [
        [`http://127.0.0.2:${inside.port}/`, "unreachable"],
        [`http://inside.example:${inside.port}/`, "unreachable"],
        [`//inside.example:${inside.port}/`, "unreachable"],
        ["http://169.254.169.254/latest/meta-data/", "unreachable"],
        [`http://0x7f.0.0.2:${inside.port}/`, "redirect"],
        [`http://2130706434:${inside.port}/`, "redirect"],
        [`http://a@127.0.0.2:${inside.port}/`, "redirect"],
        [`/\\127.0.0.2:${inside.port}/`, "redirect"],
        ["file:///etc/passwd", "redirect"],
        ["gopher://127.0.0.2/", "redirect"],
        ["http://127.0.0.1:22/", "redirect"]
      ] as const) {
        expect([location, yield* to(location)]).toEqual([location, reason])
      }
      expect([inside.connections(), looked]).toEqual([0, ["inside.example", "inside.example"]])
      expect(yield* to(`http://outside.example:${server.port}/pixel`)).toBe("fetched")
    }).pipe(Effect.scoped)
  )

  it.live("connects to the checked address, whatever the name resolves to afterwards", () =>
    Effect.gen(function* () {
      const server = yield* origin(pixel)
      const inside = yield* origin(pixel, { host: "127.0.0.2", port: server.port })
      let answers = 0
      const names = () => Effect.sync(() => (answers++ === 0 ? ["127.0.0.1"] : ["127.0.0.2"]))
      const get = yield* client({ allows: OUTSIDE, names })
      const url = `http://rebound.example:${server.port}/a`
      expect((yield* get(url)).bytes.equals(PIXEL)).toBe(true)
      expect([answers, server.asked, inside.connections()]).toEqual([1, ["/a"], 0])
      expect(yield* reasonOf(get(url))).toBe("unreachable")
      expect([answers, inside.connections()]).toEqual([2, 0])
    }).pipe(Effect.scoped)
  )

  it.live("tries another checked address when one does not answer", () =>
    Effect.gen(function* () {
      const server = yield* origin(pixel)
      const get = yield* client({ hasPrivateTargets: true, names: () => Effect.succeed(["127.0.0.3", "127.0.0.1"]) })
      expect((yield* get(`http://two.example:${server.port}/`)).mediaType).toBe("image/png")
    }).pipe(Effect.scoped)
  )

  it.live("verifies a server's certificate, and never goes from https to http", () =>
    Effect.gen(function* () {
      const certificate = certificateFor(["secure.example"])
      const before = tls.getCACertificates("default")
      yield* Effect.addFinalizer(() => Effect.sync(() => tls.setDefaultCACertificates(before)))
      const plain = yield* origin(pixel)
      const secure = yield* origin(
        (request, response) =>
          request.url === "/down"
            ? response.writeHead(302, { location: `http://plain.example:${plain.port}/` }).end()
            : pixel(request, response),
        { certificate }
      )
      const up = yield* origin((_, response) =>
        response.writeHead(302, { location: `https://secure.example:${secure.port}/` }).end()
      )
      const get = yield* client({ allows: OUTSIDE, names: () => Effect.succeed(["127.0.0.1"]) })
      const url = `https://secure.example:${secure.port}/`
      expect(yield* reasonOf(get(url))).toBe("unreachable")
      tls.setDefaultCACertificates([...before, certificate.cert])
      expect(yield* reasonOf(get(url))).toBe("fetched")
      expect(yield* reasonOf(get(`https://other.example:${secure.port}/`))).toBe("unreachable")
      expect(yield* reasonOf(get(`https://127.0.0.1:${secure.port}/`))).toBe("unreachable")
      expect(yield* reasonOf(get(`http://plain.example:${up.port}/`))).toBe("fetched")
      expect(yield* reasonOf(get(`${url}down`))).toBe("redirect")
      expect(plain.connections()).toBe(0)
    }).pipe(Effect.scoped)
  )
})
