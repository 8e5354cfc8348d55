/**
 * A chat of a user, asked as a chat or as a response: with tools, whose calls it answers, or twice, streamed and buffered,
 * so that both can be compared.
 */
import { decodeChat } from "@sluice/domain/inference/chat/Chat"
import { type ChatRequest } from "@sluice/domain/models/ChatRequest"
import { type Answer, Inference } from "@sluice/domain/inference/chat/Inference"
import type { ChatEvent } from "@sluice/domain/models/ModelProvider"
import { decodeResponse } from "@sluice/domain/inference/responses/ResponseRequest"
import { Effect, Result } from "effect"
import type { Chat } from "../plan/Plan.ts"
import { request } from "./Requests.ts"
import type { Said } from "./Tally.ts"
import type { UserContext } from "./UserContext.ts"

const WORDS = ["fleet", "ledger", "machine", "queue", "second", "token", "volume", "world"]
const MODEL = "sluice-small"

/** How far apart those of a crowd come (ms). */
const CROWD_MS = 10

export const chat = (users: UserContext, item: Chat): Effect.Effect<void> =>
  Effect.forEach(
    Array.from({ length: 1 + (item.crowd ?? 0) }, (_, n) =>
      n === 0 ? item : { ...item, id: `${item.id}-crowd-${n}` }
    ),
    (one, n) => (n === 0 ? alone(users, one) : Effect.delay(alone(users, one), n * CROWD_MS)),
    { concurrency: "unbounded", discard: true }
  )

const alone = (users: UserContext, item: Chat): Effect.Effect<void> =>
  Effect.gen(function* () {
    const first = yield* ask(users, item, item.id, item.streamed, [])
    if (item.tools === true && first.answer !== undefined) {
      const calls = first.answer.choices[0]?.calls ?? []
      if (calls.length > 0) yield* ask(users, item, `${item.id}-called`, item.streamed, calls)
    }
    if (item.twin !== true) return
    const second = yield* ask(users, item, `${item.id}-twin`, !item.streamed, [])
    if (first.said === undefined || second.said === undefined) return
    const [streamed, buffered] = item.streamed ? [first.said, second.said] : [second.said, first.said]
    users.tally.twins.push({ id: item.id, streamed, buffered })
  })

type Calls = Answer["choices"][number]["calls"]

const ask = (users: UserContext, item: Chat, id: string, streamed: boolean, calls: Calls) =>
  Effect.suspend(() => {
    const heard: Array<ChatEvent> = []
    let answer: Answer | undefined
    const emit = (_: unknown, events: ReadonlyArray<ChatEvent>) => Effect.sync(() => void heard.push(...events))
    const said = request(users, {
      kind: item.tools === true ? "tools" : item.asResponse === true ? "responses" : "chats",
      id,
      hangUpAfterMs: item.hangUpAfterMs,
      delivered: () => heard.length > 0,
      answer: Effect.gen(function* () {
        const principal = yield* users.principal(item.workspace)
        const inference = yield* Inference
        const asked = chatOf(item, streamed, calls)
        answer = yield* inference.chat(principal, id, asked, streamed ? emit : undefined)
        return { text: streamed ? textOfEvents(heard) : textOf(answer), cost: answer.usage.cost } satisfies Said
      })
    })
    return Effect.map(said, (one) => ({ said: one, answer: one === undefined ? undefined : answer }))
  })

const chatOf = (item: Chat, streamed: boolean, calls: Calls): ChatRequest =>
  item.asResponse === true
    ? Result.getOrThrow(decodeResponse(responseBody(item, streamed, calls))).chat
    : Result.getOrThrow(decodeChat(chatBody(item, streamed, calls)))

/** It begins with its own name: by that the world tells questions apart. */
const questionOf = (item: Chat): string =>
  [item.id, ...Array.from({ length: item.promptWords }, (_, i) => WORDS[(i * 7) % WORDS.length])].join(" ")

const PARAMETERS = {
  type: "object",
  properties: { name: { type: "string" }, count: { type: "integer" } },
  required: ["name"]
}
/** Questions speak of both. */
const TOOLS = ["fleet_size", "find_ledger"].map((name) => ({ name, description: name, parameters: PARAMETERS }))

const chatBody = (item: Chat, streamed: boolean, calls: Calls) => ({
  model: MODEL,
  messages: [
    { role: "user", content: questionOf(item) },
    ...(calls.length === 0
      ? []
      : [
          {
            role: "assistant",
            content: null,
            tool_calls: calls.map((call) => ({
              id: call.id,
              type: "function",
              function: { name: call.name, arguments: call.arguments }
            }))
          },
          ...calls.map((call) => ({ role: "tool", tool_call_id: call.id, content: "24" }))
        ])
  ],
  max_tokens: item.maxTokens,
  stream: streamed,
  ...(item.tools === true
    ? { tools: TOOLS.map((tool) => ({ type: "function", function: tool })), tool_choice: choiceOf(calls) }
    : {})
})

const responseBody = (item: Chat, streamed: boolean, calls: Calls) => ({
  model: MODEL,
  input: [
    { role: "user", content: questionOf(item) },
    ...calls.map((call) => ({
      type: "function_call",
      call_id: call.id,
      name: call.name,
      arguments: call.arguments
    })),
    ...calls.map((call) => ({ type: "function_call_output", call_id: call.id, output: "24" }))
  ],
  max_output_tokens: item.maxTokens,
  stream: streamed,
  ...(item.tools === true
    ? { tools: TOOLS.map((tool) => ({ type: "function", ...tool })), tool_choice: choiceOf(calls) }
    : {})
})

/** The first question wants a call; after its answer, words will do. */
const choiceOf = (calls: Calls) => (calls.length === 0 ? "required" : "auto")

const textOf = ({ choices }: Answer): string =>
  JSON.stringify(
    choices.map(({ calls, reason, text }) => [text, calls.map((call) => [call.id, call.name, call.arguments]), reason])
  )

/** What a reader of the stream puts together from its pieces. */
const textOfEvents = (events: ReadonlyArray<ChatEvent>): string => {
  let text = ""
  let reason = ""
  const calls: Array<[id: string, name: string, args: string]> = []
  for (const event of events) {
    if (event._tag === "Text") text += event.text
    if (event._tag === "Finish") reason = event.reason
    if (event._tag === "ToolCall") calls.push([event.id, event.name, ""])
    if (event._tag === "ToolArguments") calls[event.call]![2] += event.text
  }
  return JSON.stringify([[text, calls, reason]])
}
