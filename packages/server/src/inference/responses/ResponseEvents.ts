/**
 * A streamed response as text. One of these writes one answer; its events add up to the output at its end, which is that of
 * a buffered answer but for arguments that come after their call is done. A message is done when a call or a refusal comes
 * after it, and a call when anything does, if its arguments are whole by then: some upstreams let calls grow side by side,
 * and those are done at the end, as a refusal is.
 */
import { type InferenceFailure, inferenceErrorOf } from "@sluice/api/inference/InferenceErrors"
import {
  errorFields,
  itemFields,
  partFields,
  responseEvent,
  type ResponseEventType
} from "@sluice/api/inference/responses/ResponseEventWire"
import {
  type CallItem,
  callItem,
  endState,
  itemId,
  keyOf,
  messageItem,
  type OutputItem,
  outputText,
  refusalPart,
  type ResponseState,
  responseText
} from "@sluice/api/inference/responses/ResponseWire"
import type { Answer, AnswerHead } from "@sluice/domain/inference/chat/Inference"
import { parsedJson } from "@sluice/domain/models/JsonText"
import type { ChatEvent } from "@sluice/domain/models/ModelProvider"
import type { ResponseRequest } from "@sluice/domain/inference/responses/ResponseRequest"
import { Result } from "effect"
import type { AnswerWire } from "../answers/SseAnswer.ts"

export class ResponseEvents implements AnswerWire {
  private readonly request: ResponseRequest
  private readonly asked: number
  private readonly echo: string
  private head: AnswerHead | undefined = undefined
  private key = ""
  private sequence = 0
  /** Items that have begun. */
  private begun = 0
  /** The place of the message that is being said; below zero: none. */
  private message = -1
  private said = ""
  private deltaFields = ""
  /** The place of the refusal; below zero: none. */
  private refusal = -1
  /** The place of each call. */
  private readonly calls: Array<number> = []
  /** The call that nothing came after yet, with its arguments so far. */
  private call: { readonly index: number; readonly id: string; readonly name: string; arguments: string } | undefined
  /** The calls that are done, by their places. */
  private readonly callsDone = new Map<number, CallItem>()

  /** `asked`: when, in Unix seconds. */
  constructor(request: ResponseRequest, asked: number) {
    this.request = request
    this.asked = asked
    this.echo = JSON.stringify(request.echo)
  }

  events(head: AnswerHead, events: ReadonlyArray<ChatEvent>): string {
    let text = this.begin(head)
    for (const event of events) text += this.eventsOf(event)
    return text
  }

  /** What is not done yet, and the whole response. */
  end(answer: Answer): string {
    const state = endState(this.request, answer)
    // What was told as done stays as it was told, whatever came after it.
    const output = state.output.map((item, index) => this.callsDone.get(index) ?? item)
    let text = this.begin(answer.head)
    for (const [index, item] of output.entries()) {
      // An answer without a word is a message too.
      if (index === this.begun) text += this.beginMessage()
      if (this.callsDone.has(index)) continue
      if (item.type === "function_call") text += this.callDone(index, item)
      else if (index === this.message) text += this.messageDone(item)
      else if (index === this.refusal) text += this.refusalDone(item, answer.choices[0]?.refusal?.text ?? "")
    }
    const type = state.status === "completed" ? "response.completed" : "response.incomplete"
    return text + this.lifecycle(type, { ...state, output })
  }

  /**
   * The failure as an event that clients raise, and as the response's: some read the one, some the other. One that comes
   * before the model's first word has a response of its own.
   */
  failure(failure: InferenceFailure, requestId: string): string {
    const { code: given, message, type } = inferenceErrorOf(failure)
    const code = given ?? type
    return (
      this.begin({ id: requestId, created: this.asked, model: this.request.chat.model }) +
      this.event("error", errorFields(type, code, message)) +
      this.lifecycle("response.failed", { status: "failed", error: { code, message } })
    )
  }

  private begin(head: AnswerHead): string {
    if (this.head !== undefined) return ""
    this.head = head
    this.key = keyOf(head)
    const state: ResponseState = { status: "in_progress" }
    return this.lifecycle("response.created", state) + this.lifecycle("response.in_progress", state)
  }

  private eventsOf(event: ChatEvent): string {
    switch (event._tag) {
      case "Text":
        return event.text === "" ? "" : this.words(event.text)
      case "Refusal": {
        const begun = this.refusal < 0 ? this.beginRefusal() : ""
        const fields = partFields(itemId("message", this.key, this.refusal), this.refusal)
        return begun + this.event("response.refusal.delta", `${fields},"delta":${JSON.stringify(event.text)}`)
      }
      case "ToolCall":
        return this.beginCall(event)
      case "ToolArguments": {
        const index = this.calls[event.call]
        if (index === undefined || event.text === "" || this.callsDone.has(index)) return ""
        if (index === this.call?.index) this.call.arguments += event.text
        const fields = itemFields(itemId("function_call", this.key, index), index)
        return this.event("response.function_call_arguments.delta", `${fields},"delta":${JSON.stringify(event.text)}`)
      }
      default:
        return ""
    }
  }

  private words(text: string): string {
    const begun = this.message < 0 ? this.callEnded() + this.beginMessage() : ""
    this.said += text
    return begun + this.event("response.output_text.delta", this.deltaFields + JSON.stringify(text))
  }

  private beginMessage(): string {
    const index = this.begun++
    this.message = index
    this.said = ""
    this.deltaFields = `${partFields(itemId("message", this.key, index), index)},"logprobs":[],"delta":`
    return this.messageAdded(index, outputText(""))
  }

  private beginRefusal(): string {
    const done = this.wordsDone() + this.callEnded()
    this.refusal = this.begun++
    return done + this.messageAdded(this.refusal, refusalPart(""))
  }

  private messageAdded(index: number, part: object): string {
    const item = messageItem(this.key, index, null, "in_progress")
    return (
      this.item("response.output_item.added", index, item) +
      this.event("response.content_part.added", `${partFields(item.id, index)},"part":${JSON.stringify(part)}`)
    )
  }

  /** What comes after words ends their message. */
  private wordsDone(): string {
    if (this.message < 0) return ""
    return this.messageDone(messageItem(this.key, this.message, outputText(this.said), "completed"))
  }

  private beginCall({ id, name }: Extract<ChatEvent, { readonly _tag: "ToolCall" }>): string {
    const done = this.wordsDone() + this.callEnded()
    const index = this.begun++
    this.calls.push(index)
    this.call = { index, id, name, arguments: "" }
    const item = callItem(this.request, this.key, index, this.call, "in_progress")
    return done + this.item("response.output_item.added", index, item)
  }

  /** What comes after a call ends it, unless more of its arguments has to come. */
  private callEnded(): string {
    const { call } = this
    this.call = undefined
    if (call === undefined || !isWhole(call.arguments)) return ""
    const item = callItem(this.request, this.key, call.index, call, "completed")
    this.callsDone.set(call.index, item)
    return this.callDone(call.index, item)
  }

  private messageDone(item: OutputItem): string {
    const index = this.message
    this.message = -1
    const fields = partFields(item.id, index)
    const text = JSON.stringify(this.said)
    const part = JSON.stringify(outputText(this.said))
    return (
      this.event("response.output_text.done", `${fields},"logprobs":[],"text":${text}`) +
      this.event("response.content_part.done", `${fields},"part":${part}`) +
      this.item("response.output_item.done", index, item)
    )
  }

  private refusalDone(item: OutputItem, refusal: string): string {
    const index = this.refusal
    const fields = partFields(item.id, index)
    return (
      this.event("response.refusal.done", `${fields},"refusal":${JSON.stringify(refusal)}`) +
      this.event("response.content_part.done", `${fields},"part":${JSON.stringify(refusalPart(refusal))}`) +
      this.item("response.output_item.done", index, item)
    )
  }

  private callDone(index: number, item: CallItem): string {
    const what = `"name":${JSON.stringify(item.name)},"arguments":${JSON.stringify(item.arguments)}`
    return (
      this.event("response.function_call_arguments.done", `${itemFields(item.id, index)},${what}`) +
      this.item("response.output_item.done", index, item)
    )
  }

  private item(type: ResponseEventType, index: number, item: OutputItem): string {
    return this.event(type, `"output_index":${index},"item":${JSON.stringify(item)}`)
  }

  private lifecycle(type: ResponseEventType, state: ResponseState): string {
    return this.head === undefined ? "" : this.event(type, `"response":${responseText(this.head, this.echo, state)}`)
  }

  private event(type: ResponseEventType, fields: string): string {
    return responseEvent(type, this.sequence++, fields)
  }
}

/** An object goes on no further, whatever comes. */
const isWhole = (text: string): boolean => text.trimEnd().endsWith("}") && Result.isSuccess(parsedJson(text))
