/** Name look-ups against a test's own name server: all addresses of both kinds, an empty list, and a close on interruption. */
import { describe, expect, it, vi } from "@effect/vitest"
import { machineNames, publicNames } from "@sluice/server/fetch/NameLookup"
import { Deferred, Effect, Fiber } from "effect"
import { createSocket } from "node:dgram"
import { promises as dns } from "node:dns"
import { once } from "node:events"

const RECORDS: Readonly<Record<string, ReadonlyArray<Buffer>>> = {
  "1 both.example": [Buffer.from([1, 2, 3, 4]), Buffer.from([127, 0, 0, 1])],
  "28 both.example": [Buffer.from("26064700000000000000000000001111", "hex")],
  "28 six.example": [Buffer.from("00000000000000000000ffff7f000001", "hex")]
}

/** Type and name of a question. */
const asked = (query: Buffer) => {
  const labels: Array<string> = []
  let at = 12
  while (query[at] !== 0) {
    labels.push(query.toString("latin1", at + 1, at + 1 + query[at]!))
    at += query[at]! + 1
  }
  return { name: labels.join(".").toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 }
}

const answerTo = (query: Buffer): Buffer => {
  const { end, name, type } = asked(query)
  const records = RECORDS[`${type} ${name}`] ?? []
  const known = Object.keys(RECORDS).some((key) => key.endsWith(` ${name}`))
  const head = Buffer.from([query[0]!, query[1]!, 0x81, known ? 0x80 : 0x83, 0, 1, 0, records.length, 0, 0, 0, 0])
  const answers = records.map((data) =>
    Buffer.concat([Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 60, 0, data.length]), data])
  )
  return Buffer.concat([head, query.subarray(12, end), ...answers])
}

const nameServer = Effect.acquireRelease(
  Effect.promise(async () => {
    const socket = createSocket("udp4")
    const silence = Deferred.makeUnsafe<void>()
    socket.on("message", (query, from) => {
      if (asked(query).name === "silent.example") return Deferred.doneUnsafe(silence, Effect.void)
      return socket.send(answerTo(query), from.port, from.address)
    })
    socket.bind(0, "127.0.0.1")
    await once(socket, "listening")
    return { socket, silence, names: publicNames([`127.0.0.1:${socket.address().port}`]) }
  }),
  ({ socket }) => Effect.sync(() => socket.close())
)

describe("NameLookup", () => {
  it.live("returns all addresses of a name in DNS, private ones included: another module judges them", () =>
    Effect.gen(function* () {
      const { names } = yield* nameServer
      expect(yield* names("both.example")).toEqual(["1.2.3.4", "127.0.0.1", "2606:4700::1111"])
      expect(yield* names("six.example")).toEqual(["::ffff:127.0.0.1"])
      expect(yield* names("none.example")).toEqual([])
      // No hosts file here, and no search domain of the machine.
      expect(yield* names("localhost")).toEqual([])
      expect((yield* machineNames("localhost")).length).toBeGreaterThan(0)
    }).pipe(Effect.scoped)
  )

  it.live("closes its socket to a server that does not answer", () =>
    Effect.gen(function* () {
      const { names, silence } = yield* nameServer
      const fiber = yield* Effect.forkChild(names("silent.example"))
      yield* Deferred.await(silence)
      const cancel = vi.spyOn(dns.Resolver.prototype, "cancel")
      yield* Fiber.interrupt(fiber)
      expect(cancel).toHaveBeenCalledTimes(1)
      cancel.mockRestore()
    }).pipe(Effect.scoped)
  )
})
