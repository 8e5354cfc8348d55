/**
 * Selects the tools that a simulated model calls, and draws their arguments: the tools that the question mentions, or
 * those that the model must call. The arguments satisfy the tool's schema. The model answers the result of a tool with
 * text.
 */
import type { ChatMessage, ChatRequest, ChatTool } from "@sluice/domain/models/ChatRequest"
import { textHash } from "./Draws.ts"
import { jsonAnswer } from "./JsonAnswer.ts"

export interface SimulatedCall {
  readonly id: string
  readonly name: string
  readonly arguments: string
}

/** Calls of one answer. */
const MAX_CALLS = 4

/** Returns the calls to which this request leads; none: the model answers with text. */
export const callsOf = (request: ChatRequest, key: number): ReadonlyArray<SimulatedCall> =>
  toolsToCall(request).map((tool, index) => ({
    id: idOf(key, index),
    name: tool.name,
    arguments: JSON.stringify(argumentsOf(tool, textHash(key, `arguments ${index}`), questionOf(request)))
  }))

/** Returns the arguments of a call. Throws `SchemaUnsupported` for a schema that the model cannot follow. */
export const argumentsOf = (tool: ChatTool, key: number, text: string): unknown =>
  tool.parameters === undefined ? {} : jsonAnswer({ type: "object", ...tool.parameters }, key, text)

/** Returns the tools that the model calls for this request. */
export const toolsToCall = (request: ChatRequest): ReadonlyArray<ChatTool> => {
  const { messages, parallelToolCalls, toolChoice, tools } = request
  if (toolChoice === "none" || tools.length === 0) return []
  if (typeof toolChoice === "object") return tools.filter((tool) => tool.name === toolChoice.named).slice(0, 1)
  if (toolChoice === "auto" && messages.at(-1)?.role === "tool") return []
  const offered = toolChoice === "required" ? uncalled(request) : tools
  const ending = toolChoice === "required" ? endingOf(tools) : undefined
  const words = wordsOf(questionOf(request))
  const fitting = offered.filter((tool) => tool !== ending && wordsOf(tool.name).some((word) => words.includes(word)))
  const wanted = fitting.length === 0 && toolChoice === "required" ? offered.slice(0, 1) : fitting
  return wanted.slice(0, parallelToolCalls ? MAX_CALLS : 1)
}

/**
 * Returns the tools that were not called since the question, or all tools if there are none: an agent that allows no
 * text waits for its last tool. With a tool that gives the final answer, that tool comes first once another one was
 * called, and a new question begins behind its call.
 */
const uncalled = ({ messages, tools }: ChatRequest): ReadonlyArray<ChatTool> => {
  const ending = endingOf(tools)
  const last = messages.findLastIndex((message) =>
    ending === undefined ? message.role === "user" : calledIn(message, [ending]).length > 0
  )
  const called = new Set(messages.slice(last + 1).flatMap((message) => calledIn(message, tools)))
  const rest = tools.filter((tool) => tool !== ending && !called.has(tool))
  if (ending !== undefined && (called.size > 0 || rest.length === 0)) return [ending, ...rest]
  return rest.length === 0 ? tools : rest
}

/** Returns the tool that gives the final answer, if a name or a description says so. */
const endingOf = (tools: ReadonlyArray<ChatTool>): ChatTool | undefined =>
  tools.find(({ name }) => FINAL.test(name)) ?? tools.find(({ description }) => FINAL.test(description))

const FINAL = /final[-_ ]?answer/i

/**
 * Returns the tools that a message calls. smolagents writes earlier calls into the text, and their results as a user's
 * message.
 */
const calledIn = (message: ChatMessage, tools: ReadonlyArray<ChatTool>): ReadonlyArray<ChatTool> => {
  if (message.role !== "assistant") return []
  const names = namesOf(message.toolCalls ?? "[]")
  return tools.filter(({ name }) => names.includes(name) || isQuoted(message.text, name))
}

const isQuoted = (text: string, name: string): boolean => text.includes(`'${name}'`) || text.includes(`"${name}"`)

const namesOf = (toolCalls: string): ReadonlyArray<string | undefined> =>
  (JSON.parse(toolCalls) as ReadonlyArray<{ readonly function?: { readonly name: string } | null }>).map(
    (call) => call.function?.name
  )

const questionOf = (request: ChatRequest): string =>
  request.messages.findLast((message) => message.role === "user")?.text.slice(0, 4_000) ?? ""

/**
 * Returns the words of a text, or of a name in snake or camel case, without short words and without an s at the end.
 */
const wordsOf = (text: string): ReadonlyArray<string> =>
  (text.replace(/([a-z])([A-Z])/g, "$1 $2").match(/\p{L}{3,}/gu) ?? [])
    .map((word) => word.toLowerCase().replace(/s$/, ""))
    .filter((word) => !COMMON.has(word))

/** Words of names that do not describe a tool. */
const COMMON = new Set(["get", "set", "the", "and", "for", "what", "with", "from", "tool", "function", "call", "use"])

const idOf = (key: number, index: number): string =>
  `call_${["a", "b", "c"].map((part) => textHash(key, `call ${index} ${part}`).toString(16).padStart(8, "0")).join("")}`
