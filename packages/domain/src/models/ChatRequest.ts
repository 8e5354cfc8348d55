/** A chat request for providers: decoded, with defaults filled in. `inference/chat/Chat.ts` decodes bodies into it. */
import type { ExtraContent } from "./ExtraContent.ts"

export type Role = "system" | "developer" | "user" | "assistant" | "tool"

export interface ChatImage {
  /**
   * A `data:` URL. Before the images of a request are fetched it may also be a link
   * (`inference/images/LinkedImages.ts`).
   */
  readonly url: string
  readonly detail: "auto" | "low" | "high"
}

export interface ChatMessage {
  readonly role: Role
  /** The text of all parts of the message, joined with line ends. */
  readonly text: string
  readonly images: ReadonlyArray<ChatImage>
  /**
   * Texts and images in their original order, because texts refer to images by it. Undefined if the message has no
   * images.
   */
  readonly parts: ReadonlyArray<string | ChatImage> | undefined
  readonly name: string | undefined
  /** Earlier tool calls of the assistant, as JSON; they are part of the prompt. */
  readonly toolCalls: string | undefined
  /** The extra content of each of these calls; no part of the prompt. Absent if no call has any. */
  readonly callExtras?: ReadonlyArray<ExtraContent | undefined>
  /** In a tool's answer: the id of the call. */
  readonly toolCallId: string | undefined
}

export type ResponseFormat =
  | { readonly type: "text" }
  | { readonly type: "json_object" }
  | {
      readonly type: "json_schema"
      readonly schema: Readonly<Record<string, unknown>>
      readonly name: string | undefined
      /** The purpose of the answer, in words for the model. */
      readonly description?: string | undefined
      readonly strict: boolean | undefined
    }

/** A function that the model may call; the caller runs it. */
export interface ChatTool {
  readonly name: string
  readonly description: string
  /** The JSON Schema of its arguments; undefined: it has none. */
  readonly parameters: Readonly<Record<string, unknown>> | undefined
  /** Requires the arguments to satisfy `parameters`; undefined: the model's default. */
  readonly strict: boolean | undefined
}

export interface ChatRequest {
  readonly model: string
  readonly messages: ReadonlyArray<ChatMessage>
  /** Maximum tokens of each choice; undefined: bounded by the model and its context. */
  readonly maxTokens: number | undefined
  readonly temperature: number
  readonly topP: number
  readonly stop: ReadonlyArray<string>
  readonly frequencyPenalty: number
  readonly presencePenalty: number
  readonly choices: number
  readonly stream: boolean
  readonly includeUsage: boolean
  readonly seed: number | undefined
  /** The tools that the model sees. */
  readonly tools: ReadonlyArray<ChatTool>
  /** The index of each of `tools` among the tools of the body. */
  readonly toolIndexes: ReadonlyArray<number>
  /** `named`: the one tool that the model must call. */
  readonly toolChoice: "none" | "auto" | "required" | { readonly named: string }
  /** One answer may have several calls. */
  readonly parallelToolCalls: boolean
  readonly responseFormat: ResponseFormat
  /** `low`, `medium`, `high` or another value that the model knows; undefined: the model's default. */
  readonly reasoningEffort: string | undefined
  /** The answer has the log probability of each token, with those of `topLogprobs` alternatives. */
  readonly logprobs: boolean
  readonly topLogprobs: number
}
