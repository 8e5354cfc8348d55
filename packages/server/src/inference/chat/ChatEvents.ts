/**
 * Writes a streamed chat answer as text: chunks, the finish reasons, the usage and `[DONE]`. One instance writes one
 * answer.
 */
import {
  argumentsChunk,
  callChunk,
  chunkStart,
  refusalChunk,
  streamEnd,
  textChunk
} from "@sluice/api/inference/chat/ChatWire"
import { type InferenceFailure, inferenceErrorOf } from "@sluice/api/inference/InferenceErrorTable"
import { inferenceErrorText } from "@sluice/api/inference/InferenceWireError"
import type { Answer, AnswerHead } from "@sluice/domain/inference/chat/Inference"
import type { ChatEvent } from "@sluice/domain/models/ModelProvider"
import type { AnswerWire } from "../answers/SseAnswer.ts"

export class ChatEvents implements AnswerWire {
  private readonly includeUsage: boolean
  private start = ""
  private readonly named = new Set<number>()

  constructor(includeUsage: boolean) {
    this.includeUsage = includeUsage
  }

  events(head: AnswerHead, events: ReadonlyArray<ChatEvent>): string {
    if (this.start === "") this.start = chunkStart(head)
    let text = ""
    for (const event of events) text += this.chunk(event)
    return text
  }

  /** The finish reasons and the usage. A choice without text still gets its role. */
  end(answer: Answer): string {
    const start = this.start === "" ? chunkStart(answer.head) : this.start
    const roles = answer.choices.map((_, index) => (this.named.has(index) ? "" : textChunk(start, index, "", true)))
    return roles.join("") + streamEnd(start, answer, this.includeUsage)
  }

  /** One error event without `[DONE]`. */
  failure(failure: InferenceFailure, requestId: string): string {
    return `data: ${inferenceErrorText(inferenceErrorOf(failure), requestId)}\n\n`
  }

  private chunk(event: ChatEvent): string {
    switch (event._tag) {
      case "Text":
        return textChunk(this.start, event.index, event.text, this.isFirst(event.index), event.tokens)
      case "Refusal":
        return refusalChunk(this.start, event.index, event.text, this.isFirst(event.index))
      case "ToolCall":
        return callChunk(this.start, event, this.isFirst(event.index))
      case "ToolArguments":
        return argumentsChunk(this.start, event.index, event.call, event.text)
      default:
        return ""
    }
  }

  /** The first chunk of a choice names the role. */
  private isFirst(index: number): boolean {
    const first = !this.named.has(index)
    this.named.add(index)
    return first
  }
}
