/**
 * Writes a streamed response as text. One instance writes one response. Its events add up to the final output, which
 * equals that of a buffered response except for arguments that arrive after their call is done. A message is done when
 * a call or a refusal follows it. A call is done when any item follows it and its arguments are complete; some
 * upstreams interleave calls, and those are done at the end, as a refusal is.
 */
import { type InferenceFailure, inferenceErrorOf } from "@sluice/api/inference/InferenceErrorTable"
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
import { parseJson } from "@sluice/domain/models/JsonText"
import type { ChatEvent } from "@sluice/domain/models/ModelProvider"
import type { ResponseRequest } from "@sluice/domain/inference/responses/ResponseRequest"
import { Result } from "effect"
import type { AnswerWire } from "../answers/SseAnswer.ts"

export class ResponseEvents implements AnswerWire {
  private readonly request: ResponseRequest
  private readonly createdAt: number
  private readonly echo: string
  private head: AnswerHead | undefined = undefined
  private key = ""
  private sequence = 0
  /** Number of started items. */
  private itemCount = 0
  /** Output index of the current message; negative when there is none. */
  private message = -1
  private messageText = ""
  private deltaFields = ""
  /** Output index of the refusal; negative when there is none. */
  private refusal = -1
  /** Output index of each call. */
  private readonly calls: Array<number> = []
  /** The last call, while no item follows it, with its arguments so far. */
  private call: { readonly index: number; readonly id: string; readonly name: string; arguments: string } | undefined
  /** Completed calls by output index. */
  private readonly callsDone = new Map<number, CallItem>()

  /** `createdAt`: the time of the request in Unix seconds. */
  constructor(request: ResponseRequest, createdAt: number) {
    this.request = request
    this.createdAt = createdAt
    this.echo = JSON.stringify(request.echo)
  }

  events(head: AnswerHead, events: ReadonlyArray<ChatEvent>): string {
    let text = this.begin(head)
    for (const event of events) text += this.eventsOf(event)
    return text
  }

  /** Ends the open items and the response. */
  end(answer: Answer): string {
    const state = endState(this.request, answer)
    // An item that was sent as done must not change, whatever the model added later.
    const output = state.output.map((item, index) => this.callsDone.get(index) ?? item)
    let text = this.begin(answer.head)
    for (const [index, item] of output.entries()) {
      // An answer without text still has one message.
      if (index === this.itemCount) text += this.beginMessage()
      if (this.callsDone.has(index)) continue
      if (item.type === "function_call") text += this.callDone(index, item)
      else if (index === this.message) text += this.messageDone(item)
      else if (index === this.refusal) text += this.refusalDone(item, answer.choices[0]?.refusal?.text ?? "")
    }
    const type = state.status === "completed" ? "response.completed" : "response.incomplete"
    return text + this.lifecycle(type, { ...state, output })
  }

  /**
   * Sends the failure as an `error` event and as `response.failed`, because clients read one or the other. A failure
   * before the model's first event gets a response of its own.
   */
  failure(failure: InferenceFailure, requestId: string): string {
    const { code: given, message, type } = inferenceErrorOf(failure)
    const code = given ?? type
    return (
      this.begin({ id: requestId, created: this.createdAt, model: this.request.chat.model }) +
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
        return event.text === "" ? "" : this.textDelta(event.text)
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

  private textDelta(text: string): string {
    const begun = this.message < 0 ? this.endCall() + this.beginMessage() : ""
    this.messageText += text
    return begun + this.event("response.output_text.delta", this.deltaFields + JSON.stringify(text))
  }

  private beginMessage(): string {
    const index = this.itemCount++
    this.message = index
    this.messageText = ""
    this.deltaFields = `${partFields(itemId("message", this.key, index), index)},"logprobs":[],"delta":`
    return this.messageAdded(index, outputText(""))
  }

  private beginRefusal(): string {
    const done = this.endMessage() + this.endCall()
    this.refusal = this.itemCount++
    return done + this.messageAdded(this.refusal, refusalPart(""))
  }

  private messageAdded(index: number, part: object): string {
    const item = messageItem(this.key, index, null, "in_progress")
    return (
      this.item("response.output_item.added", index, item) +
      this.event("response.content_part.added", `${partFields(item.id, index)},"part":${JSON.stringify(part)}`)
    )
  }

  /** A following item ends the message. */
  private endMessage(): string {
    if (this.message < 0) return ""
    return this.messageDone(messageItem(this.key, this.message, outputText(this.messageText), "completed"))
  }

  private beginCall({ id, name }: Extract<ChatEvent, { readonly _tag: "ToolCall" }>): string {
    const done = this.endMessage() + this.endCall()
    const index = this.itemCount++
    this.calls.push(index)
    this.call = { index, id, name, arguments: "" }
    const item = callItem(this.request, this.key, index, this.call, "in_progress")
    return done + this.item("response.output_item.added", index, item)
  }

  /** A following item ends the call, unless its arguments are incomplete. */
  private endCall(): string {
    const { call } = this
    this.call = undefined
    if (call === undefined || !isCompleteObject(call.arguments)) return ""
    const item = callItem(this.request, this.key, call.index, call, "completed")
    this.callsDone.set(call.index, item)
    return this.callDone(call.index, item)
  }

  private messageDone(item: OutputItem): string {
    const index = this.message
    this.message = -1
    const fields = partFields(item.id, index)
    const text = JSON.stringify(this.messageText)
    const part = JSON.stringify(outputText(this.messageText))
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

/** A complete JSON object can't continue, whatever follows. */
const isCompleteObject = (text: string): boolean => text.trimEnd().endsWith("}") && Result.isSuccess(parseJson(text))
