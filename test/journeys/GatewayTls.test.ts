/**
 * A gateway with upstreams behind TLS. It uses an upstream whose certificate the operator's authority signed. An upstream with
 * another authority's certificate, or with a certificate for another name, never receives a request or the key.
 *
 * The certificates in `support/certificates` were made for these tests and are valid for a hundred years.
 */
import { afterAll, beforeAll, describe, expect, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { type AddressInfo, connect } from "node:net"
import { join } from "node:path"
import { createServer, type Server } from "node:tls"
import { APIError } from "openai"
import { chatEntry, type Gateways, startGateways } from "@sluice/testing/servers/Gateways"

const certificates = join(import.meta.dirname, "..", "support", "certificates")

/** Terminates TLS in front of a port, and counts the bytes that pass. */
class Terminator {
  bytes = 0
  private readonly server: Server

  constructor(certificate: string, port: number) {
    const pem = readFileSync(join(certificates, `${certificate}.pem`))
    this.server = createServer({ key: pem, cert: pem }, (socket) => {
      const inside = connect(port, "127.0.0.1")
      socket.on("data", (bytes: Buffer) => (this.bytes += bytes.length))
      for (const one of [socket, inside]) one.on("error", () => one.destroy())
      socket.pipe(inside)
      inside.pipe(socket)
    })
    this.server.on("tlsClientError", () => undefined)
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(0, "127.0.0.1", resolve))
    return `https://localhost:${(this.server.address() as AddressInfo).port}/v1`
  }

  close(): void {
    this.server.close()
  }
}

let gateways: Gateways
const terminators = new Map<string, Terminator>()
beforeAll(async () => {
  gateways = await startGateways(
    async ({ backPort, upstream }) => {
      const entries: Array<object> = []
      for (const certificate of ["localhost", "stranger", "other"]) {
        const terminator = new Terminator(certificate, backPort)
        terminators.set(certificate, terminator)
        const base_url = await terminator.listen()
        entries.push(chatEntry(`house/${certificate}`, { ...upstream, base_url, model: "sluice-small" }))
      }
      return entries
    },
    { NODE_EXTRA_CA_CERTS: join(certificates, "authority.pem") }
  )
}, 300_000)
afterAll(async () => {
  for (const terminator of terminators.values()) terminator.close()
  await gateways.end()
})

const messages = [{ role: "user" as const, content: "Say: over TLS" }]

describe("An upstream behind TLS", () => {
  it("is used if the operator trusts its certificate, streamed and buffered", async () => {
    const { near } = gateways
    const whole = await near.chat.completions.create({ model: "house/localhost", messages })
    expect(whole.choices[0]?.message.content).toBe("over TLS")
    let text = ""
    for await (const chunk of await near.chat.completions.create({
      model: "house/localhost",
      messages,
      stream: true
    })) {
      text += chunk.choices[0]?.delta.content ?? ""
    }
    expect(text).toBe("over TLS")
    expect(terminators.get("localhost")!.bytes).toBeGreaterThan(0)
  })

  it.each(["stranger", "other"])(
    "is not used with a certificate of another authority or name: %s",
    async (certificate) => {
      const failed = gateways.near.chat.completions.create({ model: `house/${certificate}`, messages })
      const error = await failed.then(
        () => undefined,
        (thrown: unknown) => thrown
      )
      expect(error).toBeInstanceOf(APIError)
      expect(error).toMatchObject({ status: 502, type: "upstream_error" })
      expect(String(error)).not.toMatch(/certificate|localhost|other/i)
      expect(terminators.get(certificate)!.bytes).toBe(0)
    }
  )
})
