/**
 * The tools of a response as functions of a chat. Functions in a namespace get its name before theirs, and calls of them are
 * told with both again. Tools that only OpenAI's servers run are left out: agents offer them to every model, and a model
 * that does not see them does not call them.
 */
import { Result } from "effect"
import { invalid, partDecoder } from "../../models/BodyCheck.ts"
import { noTool } from "../chat/Chat.ts"
import { type ChatBody, MAX_TOOLS } from "../chat/ChatBody.ts"
import type { ModelRequestInvalid } from "../../models/InferenceErrors.ts"
import { FunctionTool, NamespaceTool, type ToolChoice } from "./ResponseBody.ts"

/** What a caller calls a function. */
export interface CallName {
  readonly name: string
  readonly namespace?: string
}

/** A function as the model sees it, and where it stands in the body. */
export interface OfferedTool extends CallName {
  readonly path: string
  readonly tool: NonNullable<ChatBody["tools"]>[number]
}

type Json = Readonly<Record<string, unknown>>

const LONGEST_NAME = 64

export class ResponseTools {
  /** Those of the body that the model may be shown, as they were sent. */
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

  /** The caller's name of a function that the model knows as `plain`. */
  callName(plain: string): CallName {
    return this.names.get(plain) ?? { name: plain }
  }

  /** A `tool_choice` in the words of a chat. */
  choice(given: ToolChoice): Result.Result<NonNullable<ChatBody["tool_choice"]>, ModelRequestInvalid> {
    if (typeof given === "string") return Result.succeed(given)
    if (given.type === "function") return Result.succeed(called(this.find(given)))
    const tools: Array<ReturnType<typeof called>> = []
    for (const [index, { name, namespace, type }] of given.tools.entries()) {
      if (type !== "function") continue
      const param = `tool_choice.tools.${index}.name`
      if (typeof name !== "string") return invalid(param, `Invalid value for '${param}': the name of a function`)
      const plain = this.find({ name, namespace: typeof namespace === "string" ? namespace : null })
      if (!this.offered.some(({ tool }) => tool.function.name === plain)) return noTool(param, name)
      tools.push(called(plain))
    }
    return Result.succeed({ type: "allowed_tools", allowed_tools: { mode: given.mode, tools } })
  }

  private find({ name, namespace }: { readonly name: string; readonly namespace?: string | null | undefined }): string {
    const wanted = namespace ?? undefined
    const found = this.offered.find((one) => one.name === name && (wanted === undefined || one.namespace === wanted))
    return found?.tool.function.name ?? name
  }
}

const called = (name: string) => ({ type: "function" as const, function: { name } })

/** The one name by which the model knows a function. */
export const plainName = (name: string, namespace: string | undefined): string => {
  if (namespace === undefined) return name
  return namespace.endsWith("__") ? namespace + name : `${namespace}__${name}`
}

/** Checks the tools of a body. */
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
    const plain = plainName(name, namespace)
    const wrong =
      plain.length > LONGEST_NAME
        ? `with its namespace it has more than ${LONGEST_NAME} characters`
        : offered.some((one) => one.tool.function.name === plain)
          ? `a tool before it is called ${plain} too`
          : offered.length === MAX_TOOLS
            ? `at most ${MAX_TOOLS} tools`
            : undefined
    if (wrong !== undefined) return invalid(`${path}.name`, `Invalid value for '${path}.name': ${wrong}`)
    const tool = { type, function: { ...rest, name: plain } }
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
