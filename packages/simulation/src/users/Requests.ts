/**
 * One request to a model: read to its end, or hung up in the middle. It is not asked again when the connection is lost,
 * because nobody knows then whether it was answered and charged.
 */
import { Effect, Option } from "effect"
import type { Services } from "../server/SimulatedServer.ts"
import { isLost } from "./UserInputs.ts"
import type { RequestKind, Said } from "./Tally.ts"
import type { UserContext } from "./UserContext.ts"

export interface Request<E> {
  readonly kind: RequestKind
  /** The id that the caller knows it by; unique in the run. */
  readonly id: string
  readonly hangUpAfterMs: number | null
  readonly answer: Effect.Effect<Said, E, Services>
  /** Whether something of it had reached the caller. */
  readonly delivered?: () => boolean
}

/** What was said, where it was answered. */
export const request = <E>(users: UserContext, { answer, delivered, hangUpAfterMs, id, kind }: Request<E>) =>
  Effect.suspend(() => {
    const { history, tally } = users
    const asked = users.ask(id, answer)
    const heard = hangUpAfterMs === null ? Effect.asSome(asked) : Effect.timeoutOption(asked, hangUpAfterMs)
    return Effect.match(heard, {
      onSuccess: (said): Said | undefined => {
        if (Option.isNone(said)) {
          tally.count(kind, "abandoned")
          history.record(`${id} hung up`)
          return undefined
        }
        tally.count(kind, "answered")
        tally.costs.set(id, said.value.cost)
        history.record(`${id} answered for ${said.value.cost}`)
        return said.value
      },
      onFailure: (failure): undefined => {
        const reason = reasonOf(failure)
        tally.count(kind, "failed", reason)
        // After a fault or a lost connection the caller knows nothing of its money.
        if (failure !== "Fault" && !isLost(failure) && delivered?.() !== true) tally.free.push(id)
        history.record(`${id} failed: ${reason}`)
        return undefined
      }
    })
  })

export const reasonOf = (failure: unknown): string =>
  typeof failure === "object" && failure !== null && "_tag" in failure ? String(failure._tag) : "Fault"
