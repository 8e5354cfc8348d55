/**
 * Implements `sluice chat`: sends one prompt to a model, streams the answer to standard output, and prints usage and
 * cost on standard error.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stdio from "effect/Stdio"
import * as Stream from "effect/Stream"
import { connection } from "../connection/Connection.ts"
import { UsageWrong } from "../connection/Failure.ts"
import { usd } from "../terminal/Amounts.ts"
import { Output } from "../terminal/Output.ts"
import { type ChatPayload, chatStream, type Chunk } from "./ChatStream.ts"
import { listModels } from "./Models.ts"

export interface ChatFlags {
  readonly prompt: ReadonlyArray<string>
  readonly model: Option.Option<string>
  readonly system: Option.Option<string>
  readonly maxTokens: Option.Option<number>
  readonly temperature: Option.Option<number>
  readonly noNewline: boolean
}

export const chat = Effect.fnUntraced(function* (flags: ChatFlags) {
  const out = yield* Output
  const connected = yield* connection
  const prompt = yield* promptOf(flags.prompt)
  const model = Option.getOrUndefined(flags.model) ?? (yield* listModels(connected))[0]?.id
  if (model === undefined) return yield* new UsageWrong({ issues: ["The server has no models."] })
  const system = Option.match(flags.system, {
    onNone: () => [],
    onSome: (content) => [{ role: "system", content } as const]
  })
  const body: ChatPayload = {
    model,
    messages: [...system, { role: "user", content: prompt }],
    ...(Option.isSome(flags.maxTokens) ? { max_tokens: flags.maxTokens.value } : {}),
    ...(Option.isSome(flags.temperature) ? { temperature: flags.temperature.value } : {})
  }
  let usage: Chunk["usage"]
  let reason: string | null = null
  yield* chatStream(connected, body, (chunk) => {
    usage = chunk.usage ?? usage
    reason = chunk.choices[0]?.finish_reason ?? reason
    if (out.isJson) return out.event({ event: "chunk", ...chunk })
    const delta = chunk.choices[0]?.delta
    return out.data(delta?.content ?? delta?.refusal ?? "")
  })
  if (!out.isJson && !flags.noNewline) yield* out.data("\n")
  if (reason === "length") yield* out.say("(cut off: the answer reached its length limit)")
  if (usage !== undefined) {
    const { prompt_tokens, completion_tokens, cost } = usage
    yield* out.say(`${model}: ${prompt_tokens} tokens in, ${completion_tokens} out, ${usd(cost)}`)
  }
})

const MAX_PROMPT_BYTES = 10_485_760

/**
 * Returns the prompt: the given words, or standard input if there are no words or only `-`. Fails with `UsageWrong` if
 * the prompt is missing, empty or larger than 10 MB.
 */
const promptOf = Effect.fnUntraced(function* (words: ReadonlyArray<string>) {
  const stdio = yield* Stdio.Stdio
  const fromInput = words.length === 0 || (words.length === 1 && words[0] === "-")
  if (!fromInput) return words.join(" ")
  if (words.length === 0 && (yield* stdio.stdinIsTerminal)) {
    return yield* new UsageWrong({ issues: ['The prompt is missing: sluice chat "...", or pipe it in.'] })
  }
  let bytes = 0
  const text = yield* stdio.stdin.pipe(
    Stream.takeWhile((chunk) => (bytes += chunk.length) <= MAX_PROMPT_BYTES),
    Stream.decodeText(),
    Stream.mkString,
    Effect.mapError(() => new UsageWrong({ issues: ["The prompt can't be read from standard input."] }))
  )
  if (bytes > MAX_PROMPT_BYTES) return yield* new UsageWrong({ issues: ["The prompt is larger than 10 MB."] })
  if (text.trim() === "") return yield* new UsageWrong({ issues: ["The prompt is empty."] })
  return text
})
