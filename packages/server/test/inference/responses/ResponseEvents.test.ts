/** Streamed responses, event by event: they match the contract and add up to the buffered answer, for any model output. */
import { describe, expect, it } from "@effect/vitest"
import { ResponseEventWire } from "@sluice/api/inference/responses/ResponseEventWire"
import {
  type OutputTextWire,
  type RefusalWire,
  ResponseWire,
  bufferedResponseText
} from "@sluice/api/inference/responses/ResponseWire"
import type { Answer } from "@sluice/domain/inference/chat/Inference"
import { type ChatEvent, type FinishReason } from "@sluice/domain/models/ModelProvider"
import { UpstreamFailed } from "@sluice/domain/models/UpstreamFailed"
import { AnswerAccumulator } from "@sluice/domain/inference/chat/AnswerAccumulator"
import { decodeResponse } from "@sluice/domain/inference/responses/ResponseRequest"
import { ResponseEvents } from "@sluice/server/inference/responses/ResponseEvents"
import { Result, Schema } from "effect"
import fc from "fast-check"

const strict = { onExcessProperty: "error" } as const
const decodeEvent = Schema.decodeUnknownSync(ResponseEventWire, strict)
const decodeBody = Schema.decodeUnknownSync(ResponseWire, strict)
type Event = typeof ResponseEventWire.Type

const request = Result.getOrThrow(
  decodeResponse({
    model: "m\n",
    instructions: 'Be "brief".',
    input: "hi",
    metadata: { a: "b" },
    tools: [
      { type: "function", name: "plain" },
      { type: "namespace", name: "space", tools: [{ type: "function", name: "inner" }] }
    ]
  })
)
const head = { id: "01890a5d-ac96-774b-bcce-b302099a8057", created: 5, model: "m\n" }

const eventsIn = (text: string): ReadonlyArray<Event> =>
  text
    .split("\n\n")
    .filter((block) => block !== "")
    .map((block) => {
      const [name, data, ...more] = block.split("\n")
      expect(more).toEqual([])
      const event = decodeEvent(JSON.parse(data!.slice("data: ".length)))
      expect(name).toBe(`event: ${event.type}`)
      return event
    })

/** The output that a client assembles from the deltas alone. */
const pieced = (events: ReadonlyArray<Event>) => {
  const items: Array<{ id: string; type: string; text: string; done: unknown }> = []
  for (const event of events) {
    if (event.type === "response.output_item.added") {
      expect(event.output_index).toBe(items.length)
      items.push({ id: event.item.id, type: event.item.type, text: "", done: undefined })
    } else if ("item_id" in event) {
      const item = items[event.output_index]!
      expect([event.item_id, item.done]).toEqual([item.id, undefined])
      if ("delta" in event) item.text += event.delta
      if (event.type === "response.output_text.done") expect(event.text).toBe(item.text)
      if (event.type === "response.refusal.done") expect(event.refusal).toBe(item.text)
      if (event.type === "response.function_call_arguments.done") expect(event.arguments).toBe(item.text)
    } else if (event.type === "response.output_item.done") {
      const item = items[event.output_index]!
      expect([event.item.id, item.done]).toEqual([item.id, undefined])
      item.done = event.item
    }
  }
  return items
}

const saidIn = (part: typeof OutputTextWire.Type | typeof RefusalWire.Type): string =>
  part.type === "refusal" ? part.refusal : part.text

const piece = fc.string({ maxLength: 4, unit: "binary" })
const event: fc.Arbitrary<ChatEvent> = fc.oneof(
  piece.map((text): ChatEvent => ({ _tag: "Text", index: 0, text })),
  piece.map((text): ChatEvent => ({ _tag: "Refusal", index: 0, text })),
  fc
    .tuple(fc.nat(4), fc.constantFrom("plain", "space__inner", "made_up"))
    .map(([call, name]): ChatEvent => ({ _tag: "ToolCall", index: 0, call, id: `call_${call}`, name })),
  fc.tuple(fc.nat(4), piece).map(([call, text]): ChatEvent => ({ _tag: "ToolArguments", index: 0, call, text }))
)
const reason = fc.constantFrom<FinishReason>("stop", "length", "tool_calls", "content_filter")
const parts = fc.array(fc.array(event, { maxLength: 4 }), { maxLength: 8 })

describe("a streamed response", () => {
  it("adds up to the buffered one, in any order of text, refusals and calls", () => {
    const property = fc.property(parts, reason, (parts, reason) => {
      const production = new AnswerAccumulator(1, 1_000)
      const wire = new ResponseEvents(request, 1)
      let text = ""
      for (const events of parts) text += wire.events(head, production.add(events))
      text += wire.events(head, production.add([{ _tag: "Finish", index: 0, reason }]))
      const [choice] = production.choices
      const answer: Answer = {
        head,
        choices: production.finishedChoices(false),
        usage: { promptTokens: 3, completionTokens: 4, cost: 1_500n }
      }
      const events = eventsIn(text + wire.end(answer))
      const whole = decodeBody(JSON.parse(bufferedResponseText(request, answer)))
      const complete = reason === "stop" || reason === "tool_calls"
      expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, index) => index))
      expect(events.slice(0, 2).map(({ type }) => type)).toEqual(["response.created", "response.in_progress"])
      expect(events.at(-1)).toEqual({
        type: complete ? "response.completed" : "response.incomplete",
        sequence_number: events.length - 1,
        response: whole
      })
      const items = pieced(events)
      expect(items.map(({ done }) => done)).toEqual(whole.output)
      for (const [index, item] of whole.output.entries()) {
        expect(items[index]!.text).toBe(item.type === "message" ? saidIn(item.content[0]!) : item.arguments)
      }
      const said = whole.output.flatMap((item) => (item.type === "message" ? item.content : []))
      const joined = (type: string) => said.map((one) => (one.type === type ? saidIn(one) : "")).join("")
      expect(joined("output_text")).toBe(choice!.text)
      expect(joined("refusal")).toBe(choice!.refusal?.text ?? "")
      expect(whole.output.filter(({ type }) => type === "function_call")).toHaveLength(choice!.calls.length)
      expect(whole.output.map(({ status }) => status)).toEqual(
        whole.output.map((_, index) => (complete || index < whole.output.length - 1 ? "completed" : "incomplete"))
      )
    })
    fc.assert(property, { numRuns: 300 })
  })

  it("ends each call before the next item begins, unless its arguments are incomplete", () => {
    const call = (call: number): ChatEvent => ({ _tag: "ToolCall", index: 0, call, id: `call_${call}`, name: "plain" })
    const args = (call: number, text: string): ChatEvent => ({ _tag: "ToolArguments", index: 0, call, text })
    const words: ChatEvent = { _tag: "Text", index: 0, text: "a" }
    const [first, second] = [args(0, '{"a":"}'), args(0, '"}')]
    for (const [said, order, told] of [
      [[call(0), first, second, call(1), args(1, "{}")], "+0 -0 +1 -1"],
      [[words, call(0), first, second, call(1), args(1, "{}"), words], "+0 -0 +1 -1 +2 -2 +3 -3"],
      [[call(0), args(0, "{}"), { _tag: "Refusal", index: 0, text: "No." }, call(1)], "+0 -0 +1 +2 -1 -2"],
      // Upstreams that begin all calls first, or interleave their calls.
      [[call(0), call(1), first, args(1, "{}"), second], "+0 +1 -0 -1"],
      [[call(0), first, call(1), second, args(1, "{}")], "+0 +1 -0 -1"],
      [[call(0), call(1), args(1, '{"a":'), args(0, "{}"), args(1, "1}"), call(2), args(2, "{}")], "+0 +1 -1 +2 -0 -2"],
      // A number may continue.
      [[call(0), args(0, "1"), call(1), args(0, "2")], "+0 +1 -0 -1"],
      // Text after a complete object is dropped.
      [[call(0), args(0, "{}"), call(1), args(1, "{}"), args(0, "\n")], "+0 -0 +1 -1", ["{}", "{}"]],
      [[call(0), args(0, "{}"), words, args(0, '{"a":1}')], "+0 -0 +1 -1", ["{}"]]
    ] as const) {
      const production = new AnswerAccumulator(1, 1_000)
      const wire = new ResponseEvents(request, 1)
      const text = said.map((event) => wire.events(head, production.add([event]))).join("")
      production.add([{ _tag: "Finish", index: 0, reason: "tool_calls" }])
      const usage = { promptTokens: 3, completionTokens: 4, cost: 1_500n }
      const events = eventsIn(text + wire.end({ head, choices: production.finishedChoices(false), usage }))
      const items = events.flatMap((event) =>
        event.type === "response.output_item.added" || event.type === "response.output_item.done"
          ? [`${event.type.endsWith("added") ? "+" : "-"}${event.output_index}`]
          : []
      )
      expect(items.join(" ")).toBe(order)
      const last = events.at(-1)!
      const output = "response" in last ? last.response.output : []
      expect(pieced(events).map(({ done }) => done)).toEqual(output)
      expect(output.flatMap((item) => (item.type === "function_call" ? [item.arguments] : []))).toEqual(
        told ?? production.choices[0]!.calls.map((call) => call.arguments)
      )
    }
  })

  it("reports a failure, also before its first token", () => {
    const broken = new UpstreamFailed({ reason: "broken" })
    for (const begun of [true, false]) {
      const wire = new ResponseEvents(request, 9)
      const words = begun ? wire.events(head, [{ _tag: "Text", index: 0, text: "one" }]) : ""
      const events = eventsIn(words + wire.failure(broken, "req-1"))
      const last = events.at(-1)!
      expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, index) => index))
      expect([events[0]!.type, last.type]).toEqual(["response.created", "response.failed"])
      const told = {
        code: "upstream_broken",
        message: "The model could not be reached, or its answer was incomplete or invalid. Try again.",
        param: null
      }
      const sequence_number = events.length - 2
      expect(events.at(-2)).toEqual({
        type: "error",
        sequence_number,
        ...told,
        error: { type: "upstream_error", ...told }
      })
      expect("response" in last && last.response).toMatchObject({
        id: begun ? `resp_${head.id.replaceAll("-", "")}` : "resp_req1",
        created_at: begun ? 5 : 9,
        status: "failed",
        error: {
          code: "upstream_broken",
          message: "The model could not be reached, or its answer was incomplete or invalid. Try again."
        },
        output: [],
        usage: null
      })
    }
  })
})
