/** One chat of a user: read to its end, or hung up in the middle. It is not asked again when the connection is lost. */
import { decodeChat } from "@sluice/domain/inference/Chat"
import { Inference } from "@sluice/domain/inference/Inference"
import { Effect, Result } from "effect"
import type { History } from "../driver/History.ts"
import type { Chat } from "../plan/Plan.ts"
import type { Users } from "./Users.ts"

export interface ChatTally {
  answered: number
  failed: number
  abandoned: number
  /** What the answers said that they cost, nano-USD. */
  cost: bigint
  readonly reasons: Record<string, number>
}

export const noChats = (): ChatTally => ({ answered: 0, failed: 0, abandoned: 0, cost: 0n, reasons: {} })

const WORDS = ["fleet", "ledger", "machine", "queue", "second", "token", "volume", "world"]
const MODEL = "sluice-small"

export const chat = (users: Users, item: Chat, history: History): Effect.Effect<void, unknown> =>
  Effect.gen(function* () {
    const asked = users.ask(
      item.id,
      Effect.gen(function* () {
        const principal = yield* users.principal(item.workspace)
        const inference = yield* Inference
        const request = Result.getOrThrow(decodeChat(bodyOf(item)))
        const emit = item.streamed ? () => Effect.void : undefined
        return yield* inference.chat(principal, item.id, request, emit)
      })
    )
    const heard = item.hangUpAfterMs === null ? Effect.asSome(asked) : Effect.timeoutOption(asked, item.hangUpAfterMs)
    const end = yield* Effect.match(heard, {
      onSuccess: (answer) => {
        if (answer._tag === "None") {
          users.chats.abandoned++
          return "hung up"
        }
        users.chats.answered++
        users.chats.cost += answer.value.usage.cost
        return `answered, ${answer.value.usage.completionTokens} tokens`
      },
      onFailure: (failure) => {
        users.chats.failed++
        const reason = typeof failure === "object" && failure !== null && "_tag" in failure ? failure._tag : "Fault"
        users.chats.reasons[reason] = (users.chats.reasons[reason] ?? 0) + 1
        return `failed: ${reason}`
      }
    })
    history.record(`${item.id} ${end}`)
  })

const bodyOf = (item: Chat) => ({
  model: MODEL,
  messages: [
    {
      role: "user",
      // It begins with its own name: by that the world tells questions apart.
      content: [item.id, ...Array.from({ length: item.promptWords }, (_, i) => WORDS[(i * 7) % WORDS.length])].join(" ")
    }
  ],
  max_tokens: item.maxTokens,
  stream: item.streamed,
  seed: 1
})
