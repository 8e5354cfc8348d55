/** A chat request as providers take it: decoded, with defaults filled in. `inference/chat/Chat.ts` decodes bodies into it. */
import type { ExtraContent } from "./ExtraContent.ts"

export type Role = "system" | "developer" | "user" | "assistant" | "tool"

export interface ChatImage {
  /** A `data:` URL; of a request that no model has seen yet also a link (`inference/images/LinkedImages.ts`). */
  readonly url: string
  readonly detail: "auto" | "low" | "high"
}

export interface ChatMessage {
  readonly role: Role
  /** All text of the message; parts are joined with line ends. */
  readonly text: string
  readonly images: ReadonlyArray<ChatImage>
  /** Texts and images in the order in which they were sent, where there are images; they refer to each other by it. */
  readonly parts: ReadonlyArray<string | ChatImage> | undefined
  readonly name: string | undefined
  /** Calls that an assistant made before, as JSON; they are part of the prompt. */
  readonly toolCalls: string | undefined
  /** What belongs to each of these calls beside: no part of the prompt. Absent: nothing does. */
  readonly callExtras?: ReadonlyArray<ExtraContent | undefined>
  /** Of a tool's answer: the id of the call. */
  readonly toolCallId: string | undefined
}

export type ResponseFormat =
  | { readonly type: "text" }
  | { readonly type: "json_object" }
  | {
      readonly type: "json_schema"
      readonly schema: Readonly<Record<string, unknown>>
      readonly name: string | undefined
      /** What the answer is for, in words for the model. */
      readonly description?: string | undefined
      readonly strict: boolean | undefined
    }

/** A function that the model may ask its caller to run. */
export interface ChatTool {
  readonly name: string
  readonly description: string
  /** The JSON Schema of its arguments; undefined: it takes none. */
  readonly parameters: Readonly<Record<string, unknown>> | undefined
  /** Whether its arguments must satisfy `parameters`; undefined: as the model does it. */
  readonly strict: boolean | undefined
}

export interface ChatRequest {
  readonly model: string
  readonly messages: ReadonlyArray<ChatMessage>
  /** The most tokens of each choice; undefined: as many as model and context allow. */
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
  /** Those that the model is shown. */
  readonly tools: ReadonlyArray<ChatTool>
  /** Where each of them stands among the tools of the body. */
  readonly toolPlaces: ReadonlyArray<number>
  /** `named`: the one tool that must be called. */
  readonly toolChoice: "none" | "auto" | "required" | { readonly named: string }
  /** Whether one answer may have several calls. */
  readonly parallelToolCalls: boolean
  readonly responseFormat: ResponseFormat
  /** `low`, `medium`, `high` or what else a model knows; undefined: its own. */
  readonly reasoningEffort: string | undefined
  /** Whether the tokens of an answer are wanted, and how many others in the place of each. */
  readonly logprobs: boolean
  readonly topLogprobs: number
}
