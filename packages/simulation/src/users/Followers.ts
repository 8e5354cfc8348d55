/**
 * Who follows a job's log until its end, and goes on where he was when his connection is lost. What he was told is held
 * against the log as it is stored then: the same bytes at the same places, none twice and none missing.
 */
import { JobLogs, type LogEvent } from "@sluice/domain/jobs/JobLogs"
import { LIMIT_BYTES } from "@sluice/domain/machines/OutputLimit"
import { Effect, Stream } from "effect"
import type { Submit } from "../plan/Plan.ts"
import type { UserContext } from "./UserContext.ts"

export const following = (users: UserContext, item: Submit, jobId: string): Effect.Effect<void, unknown> =>
  Effect.gen(function* () {
    const told = new Told()
    yield* users.persist(`${item.id}/follow`, reading(users, item, jobId, told, true))
    const stored = new Told()
    yield* users.persist(`${item.id}/stored`, reading(users, item, jobId, stored, false))
    users.history.record(`${item.id} followed to ${told.position}`)
    users.tally.followed++
    users.tally.misled.push(...misled(told, stored).map((wrong) => `${item.id}: ${wrong}`))
  })

/** Reads on from where `told` is, to the job's end. */
const reading = (users: UserContext, item: Submit, jobId: string, told: Told, follow: boolean) =>
  Effect.gen(function* () {
    // He heard the end, and only then was his connection lost.
    if (told.ended) return
    const principal = yield* users.principal(item.workspace)
    const logs = yield* JobLogs
    const events = yield* logs.events(principal, jobId, { offset: told.position, tail: undefined, follow })
    yield* Stream.runForEach(events, (event) => Effect.sync(() => told.hear(event)))
    // As where a connection is lost: ask again.
    if (!told.ended) return yield* Effect.die("the log ended before its job")
  })

type Range = readonly [from: number, to: number]

/** What a reader of a log was told. */
export class Told {
  /** The next byte that is due. */
  position = 0
  ended = false
  readonly wrong: Array<string> = []
  readonly gaps: Array<Range> = []
  private readonly pieces: Array<{ readonly at: number; readonly bytes: Uint8Array }> = []

  hear(event: LogEvent): void {
    if (this.ended) this.wrong.push(`${event._tag} came after the end`)
    switch (event._tag) {
      case "Log":
        this.due(event.next - event.bytes.length)
        this.pieces.push({ at: this.position, bytes: event.bytes })
        this.position += event.bytes.length
        break
      case "Gap":
        this.due(event.from)
        this.gaps.push([event.from, event.to])
        this.position = event.to
        break
      case "End":
        this.ended = true
    }
  }

  /** All bytes at their places, and nothing where `gaps` are. */
  text(gaps: ReadonlyArray<Range>): Buffer {
    const text = Buffer.alloc(this.position)
    for (const { at, bytes } of this.pieces) text.set(bytes, at)
    for (const [from, to] of gaps) text.fill(0, from, to)
    return text
  }

  private due(at: number): void {
    if (at !== this.position) this.wrong.push(`byte ${at} was told where ${this.position} was due`)
  }
}

/** What is wrong with what a follower was told. */
export const misled = (told: Told, stored: Told): ReadonlyArray<string> => {
  const wrong = [...told.wrong, ...stored.wrong]
  if (told.position !== stored.position) wrong.push(`was told ${told.position} bytes of ${stored.position}`)
  // Only of what is more than is kept anything may be left out.
  if (told.gaps.length > 0 && stored.position <= LIMIT_BYTES)
    wrong.push("was told of a gap in a log that is kept whole")
  const gaps = [...told.gaps, ...stored.gaps]
  if (wrong.length === 0 && !told.text(gaps).equals(stored.text(gaps)))
    wrong.push("was told other bytes than are stored")
  return wrong
}
