/**
 * Turns the tools of a response into functions of a chat. The name of a namespace is put before the names of its
 * functions; calls of them are returned with both names. Tools that only OpenAI's servers run are dropped: agents offer
 * them to every model, and a model that does not see a tool does not call it.
 */
import { Result } from "effect"
import { invalid, partDecoder } from "../../models/BodyCheck.ts"
import { unknownTool } from "../chat/Chat.ts"
import { type ChatBody, MAX_TOOLS } from "../chat/ChatBody.ts"
import type { ModelRequestInvalid } from "../../models/InferenceErrors.ts"
import { FunctionTool, NamespaceTool, type ToolChoice } from "./ResponseBody.ts"

/** The caller's name of a function. */
export interface CallName {
  readonly name: string
  readonly namespace?: string
}

/** A function as the model sees it, with its path in the body. */
export interface OfferedTool extends CallName {
  readonly path: string
  readonly tool: NonNullable<ChatBody["tools"]>[number]
}

type Json = Readonly<Record<string, unknown>>

const MAX_NAME_LENGTH = 64

export class ResponseTools {
  /** The tools of the body that the model may see, as they were sent. */
  readonly shown: ReadonlyArray<Json>
  /** The functions in them. */
  readonly offered: ReadonlyArray<OfferedTool>
  private readonly names: ReadonlyMap<string, CallName>

  constructor(offered: ReadonlyArray<OfferedTool>, shown: ReadonlyArray<Json>) {
    this.offered = offered
    this.shown = shown
    this.names = new Map(
      offered.flatMap(({ name, namespace, tool }) =>
        namespace === undefined ? [] : [[tool.function.name, { name, namespace }]]
      )
    )
  }

  /** Returns the caller's name of a function that the model knows as `qualified`. */
  callName(qualified: string): CallName {
    return this.names.get(qualified) ?? { name: qualified }
  }

  /** Returns a `tool_choice` in the form of a chat. */
  choice(given: ToolChoice): Result.Result<NonNullable<ChatBody["tool_choice"]>, ModelRequestInvalid> {
    if (typeof given === "string") return Result.succeed(given)
    if (given.type === "function") return Result.succeed(functionChoice(this.find(given)))
    const tools: Array<ReturnType<typeof functionChoice>> = []
    for (const [index, { name, namespace, type }] of given.tools.entries()) {
      if (type !== "function") continue
      const param = `tool_choice.tools.${index}.name`
      if (typeof name !== "string") return invalid(param, `Invalid value for '${param}': the name of a function`)
      const qualified = this.find({ name, namespace: typeof namespace === "string" ? namespace : null })
      if (!this.offered.some(({ tool }) => tool.function.name === qualified)) return unknownTool(param, name)
      tools.push(functionChoice(qualified))
    }
    return Result.succeed({ type: "allowed_tools", allowed_tools: { mode: given.mode, tools } })
  }

  private find({ name, namespace }: { readonly name: string; readonly namespace?: string | null | undefined }): string {
    const requestedNamespace = namespace ?? undefined
    const found = this.offered.find(
      (tool) => tool.name === name && (requestedNamespace === undefined || tool.namespace === requestedNamespace)
    )
    return found?.tool.function.name ?? name
  }
}

const functionChoice = (name: string) => ({ type: "function" as const, function: { name } })

/** Returns the one name under which the model knows a function. */
export const qualifiedName = (name: string, namespace: string | undefined): string => {
  if (namespace === undefined) return name
  return namespace.endsWith("__") ? namespace + name : `${namespace}__${name}`
}

/** Decodes the tools of a body. */
export const toolsOf = (tools: ReadonlyArray<Json>): Result.Result<ResponseTools, ModelRequestInvalid> => {
  const offered: Array<OfferedTool> = []
  const shown: Array<Json> = []
  for (const [index, tool] of tools.entries()) {
    const path = `tools.${index}`
    if (typeof tool.type !== "string")
      return invalid(`${path}.type`, `Invalid value for '${path}.type': a type of tool`)
    if (tool.type !== "function" && tool.type !== "namespace") continue
    const added = tool.type === "function" ? addFunction(offered, tool, path) : addNamespace(offered, tool, path)
    if (Result.isFailure(added)) return Result.fail(added.failure)
    shown.push(tool)
  }
  return Result.succeed(new ResponseTools(offered, shown))
}

const decodeFunction = partDecoder(FunctionTool)
const decodeNamespace = partDecoder(NamespaceTool)

const addFunction = (
  offered: Array<OfferedTool>,
  given: Json,
  path: string,
  namespace?: string
): Result.Result<void, ModelRequestInvalid> =>
  Result.flatMap(decodeFunction(given, path), ({ name, type, ...rest }) => {
    const qualified = qualifiedName(name, namespace)
    const mistake =
      qualified.length > MAX_NAME_LENGTH
        ? `with its namespace it has more than ${MAX_NAME_LENGTH} characters`
        : offered.some((other) => other.tool.function.name === qualified)
          ? `a tool before it is called ${qualified} too`
          : offered.length === MAX_TOOLS
            ? `at most ${MAX_TOOLS} tools`
            : undefined
    if (mistake !== undefined) return invalid(`${path}.name`, `Invalid value for '${path}.name': ${mistake}`)
    const tool = { type, function: { ...rest, name: qualified } }
    offered.push(namespace === undefined ? { name, path, tool } : { name, namespace, path, tool })
    return Result.succeed(undefined)
  })

const addNamespace = (
  offered: Array<OfferedTool>,
  given: Json,
  path: string
): Result.Result<void, ModelRequestInvalid> =>
  Result.flatMap(decodeNamespace(given, path), ({ name, tools }) => {
    for (const [index, tool] of tools.entries()) {
      if (tool.type !== "function") continue
      const added = addFunction(offered, tool, `${path}.tools.${index}`, name)
      if (Result.isFailure(added)) return added
    }
    return Result.succeed(undefined)
  })
