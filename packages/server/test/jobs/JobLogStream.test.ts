/** Both forms of a log against its bytes, for any cut into chunks and any offset to resume from. */
import { describe, expect, it } from "@effect/vitest"
import type { Job } from "@sluice/domain/jobs/Job"
import type { LogEvent } from "@sluice/domain/jobs/JobLogs"
import { asEvents, asText, wholeCharacters } from "@sluice/server/jobs/JobLogStream"
import { Effect, Schema, Stream } from "effect"

const utf8 = new TextEncoder()
const job = { status: "succeeded", exitCode: 0 } as unknown as Job

/** The bytes from `from` on, cut at the given offsets, and the end. */
const eventsOf = (bytes: Uint8Array, cuts: ReadonlyArray<number>, from: number): Stream.Stream<LogEvent> => {
  const places = [...new Set([from, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length])]
    .filter((place) => place >= from)
    .sort((a, b) => a - b)
  const logs = places
    .slice(1)
    .map((next, i): LogEvent => ({ _tag: "Log", next, bytes: bytes.subarray(places[i], next) }))
  return Stream.fromIterable([...logs, { _tag: "End", job } satisfies LogEvent])
}

interface Sent {
  readonly id: number
  readonly text: string
}

const sentBy = (events: Stream.Stream<LogEvent>) =>
  Effect.map(Stream.runCollect(asEvents(events)), (chunks) =>
    Buffer.concat(chunks)
      .toString("utf8")
      .split("\n\n")
      .filter((event) => event.includes("event: log"))
      .map((event): Sent => ({
        id: Number(/^id: (\d+)$/m.exec(event)?.[1]),
        text: JSON.parse(/^data: (.*)$/m.exec(event)![1]!).text
      }))
  )

const Text = Schema.Array(Schema.Literals(["a", "\n", "é", "€", "😀", "data: x\n\n", "\ufeff"]))
const Cuts = Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1_000 })))

describe("JobLogStream", () => {
  it.live.prop(
    "events carry every character once, and a resume after any event neither loses nor repeats one",
    [Text, Cuts, Cuts],
    ([parts, cuts, cutsAfter]) =>
      Effect.gen(function* () {
        const text = parts.join("")
        const bytes = utf8.encode(text)
        const sent = yield* sentBy(eventsOf(bytes, cuts, 0))
        expect(sent.map((event) => event.text).join("")).toBe(text)
        for (let i = 0; i < sent.length; i++) {
          const rest = yield* sentBy(eventsOf(bytes, cutsAfter, sent[i]!.id))
          const before = sent
            .slice(0, i + 1)
            .map((event) => event.text)
            .join("")
          expect(before + rest.map((event) => event.text).join("")).toBe(text)
        }
      }),
    { arbitrary: { runs: 60 } }
  )

  it.effect("text carries any bytes unchanged, and one line in place of dropped bytes", () =>
    Effect.gen(function* () {
      const raw = new Uint8Array([0xff, 0x00, 0xc3, 0x0a])
      const events: ReadonlyArray<LogEvent> = [
        { _tag: "Status", job },
        { _tag: "Log", next: 4, bytes: raw },
        { _tag: "Gap", from: 4, to: 1_004 },
        { _tag: "Log", next: 1_005, bytes: new Uint8Array([0x62]) },
        { _tag: "End", job }
      ]
      const bytes = Buffer.concat(yield* Stream.runCollect(asText(Stream.fromIterable(events))))
      expect(bytes.equals(Buffer.concat([raw, Buffer.from("\n[... 1000 bytes dropped ...]\nb")]))).toBe(true)
    })
  )

  it.effect("bytes that are no character come as replacement characters and are not kept back", () =>
    Effect.gen(function* () {
      const sent = yield* sentBy(eventsOf(new Uint8Array([0x61, 0xc3]), [], 0))
      expect(sent).toEqual([
        { id: 1, text: "a" },
        { id: 2, text: "\ufffd" }
      ])
      expect(wholeCharacters(new Uint8Array([0x80, 0x80, 0x80, 0x80]))).toBe(4)
    })
  )
})
