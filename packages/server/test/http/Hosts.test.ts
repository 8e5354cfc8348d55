/** `Host`: which ones the server answers to, and that probes of a cluster need none. */
import { describe, expect, it, layer } from "@effect/vitest"
import { hostRule, machineAddresses } from "@sluice/server/http/Hosts"
import { hostOfTarget } from "@sluice/server/http/RequestPath"
import { rawRequest } from "@sluice/testing/servers/RawHttp"
import { TestServer, testServer } from "@sluice/testing/servers/TestServer"
import { Effect } from "effect"

describe("the rule for Host", () => {
  it("takes an address of the machine, however it is spelled, where the server listens beyond loopback", () => {
    const isOurs = hostRule([], () => ["10.1.2.3", "2001:db8::7"])
    for (const host of ["10.1.2.3", "10.1.2.3:8080", "[2001:db8::7]", "[2001:DB8:0:0:0:0:0:7]:80", "localhost"]) {
      expect([host, isOurs(host)]).toEqual([host, true])
    }
    for (const host of ["10.1.2.4", "10.1.2.3.evil.example", "[2001:db8::8]", "2001:db8::7", "[10.1.2.3]", "[]", ""]) {
      expect([host, isOurs(host)]).toEqual([host, false])
    }
  })

  it("takes no address beyond loopback where the server listens on loopback", () => {
    expect(hostRule([])("10.1.2.3")).toBe(false)
  })

  it("knows the addresses of this machine", () => {
    expect(machineAddresses()).toContain("127.0.0.1")
  })
})

it("the host of a target is what stands before its path, without a user", () => {
  for (const [target, host] of [
    ["http://a.example/path", "a.example"],
    ["HTTPS://A:1?x=http://b/", "A:1"],
    ["http://localhost@evil.example/", "evil.example"],
    ["http:///path", ""],
    ["/http://a/", undefined],
    ["*", undefined]
  ] as const) {
    expect([target, hostOfTarget(target)]).toEqual([target, host])
  }
})

layer(testServer, { excludeTestServices: true, timeout: "5 minutes" })("a server and its Host", (it) => {
  const statusOf = (line: string, ...hosts: ReadonlyArray<string>) =>
    Effect.flatMap(TestServer, ({ alice, port }) =>
      Effect.map(
        rawRequest(port, [
          `${line} HTTP/1.1`,
          ...hosts.map((host) => `Host: ${host}`),
          `Authorization: Bearer ${alice.key}`,
          "Content-Length: 0"
        ]),
        ({ status }) => status
      )
    )

  it.effect("probes are answered whatever their Host, and with none", () =>
    Effect.gen(function* () {
      for (const path of ["/healthz", "/readyz", "/healthz/", "/readyz?verbose", "http://10.0.0.9:8080/healthz"]) {
        for (const hosts of [["10.0.0.9:8080"], ["evil.example"], [""], []]) {
          expect([path, hosts, yield* statusOf(`GET ${path}`, ...hosts)]).toEqual([path, hosts, 200])
        }
      }
      for (const path of ["/metrics", "/", "/openapi.json", "/healthz/x", "/api/v1/jobs", "/v1/models"]) {
        expect([path, yield* statusOf(`GET ${path}`, "10.0.0.9")]).toEqual([path, 403])
        expect([path, yield* statusOf(`GET ${path}`)]).toEqual([path, 403])
      }
    })
  )

  it.effect("two Host fields are a 400 on every route", () =>
    Effect.gen(function* () {
      for (const line of ["GET /healthz", "GET /api/v1/jobs", "GET /v1/models", "POST /v1/chat/completions"]) {
        expect([line, yield* statusOf(line, "localhost", "evil.example")]).toEqual([line, 400])
        expect([line, yield* statusOf(line, "localhost", "localhost")]).toEqual([line, 400])
      }
    })
  )

  it.effect("the host of an absolute target counts, and the Host field beside it does not", () =>
    Effect.gen(function* () {
      expect(yield* statusOf("GET http://localhost/api/v1/jobs", "evil.example")).toBe(200)
      for (const path of ["/api/v1/jobs", "/v1/models"]) {
        expect([path, yield* statusOf(`GET http://evil.example${path}`, "localhost")]).toEqual([path, 403])
      }
      expect(yield* statusOf("POST http://evil.example/v1/chat/completions", "localhost")).toBe(403)
    })
  )
})
