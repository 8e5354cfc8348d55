/**
 * Finds the tool call or tool result of a conversation that has no counterpart. The results of an assistant's calls follow its
 * message at once, one for each call, in any order; the calls at the end of a conversation may still be open.
 * Ids are compared within one turn: upstreams reuse an id in a later turn, and some use one id for two parallel calls.
 */
import type { MessageBody } from "./ChatBody.ts"

export interface ToolFault {
  /** The index of the assistant's message if a call has no result, otherwise of the result. */
  readonly message: number
  /** The index of the call in the assistant's message; undefined if a result is wrong. */
  readonly call: number | undefined
  readonly why: string
}

/** Returns the first fault; undefined if every result has its call, and every call that a later message follows has its result. */
export const toolFaultOf = (messages: ReadonlyArray<MessageBody>): ToolFault | undefined => {
  let calls: Calls = []
  let caller = 0
  /** The number of missing results for each id; `open` is their sum. */
  let wanted = NONE
  let open = 0
  for (const [index, { role, tool_call_id, tool_calls }] of messages.entries()) {
    if (role !== "tool") {
      if (open > 0) {
        const call = calls.findIndex(({ id }) => wanted.get(id)! > 0)
        return { message: caller, call, why: `the tool call ${shown(calls[call]!.id)} ${OPEN}` }
      }
      calls = role === "assistant" ? (tool_calls ?? []) : []
      caller = index
      wanted = countsOf(calls)
      open = calls.length
      continue
    }
    const id = tool_call_id ?? ""
    const left = wanted.get(id) ?? -1
    if (left < 1) {
      const why = left === 0 ? `the tool call ${shown(id)} ${TWICE}` : `no tool call ${NO_CALL}`
      return { message: index, call: undefined, why }
    }
    wanted.set(id, left - 1)
    open--
  }
  return undefined
}

type Calls = NonNullable<MessageBody["tool_calls"]>

const NONE = new Map<string, number>()

const countsOf = (calls: Calls): Map<string, number> => {
  if (calls.length === 0) return NONE
  const counts = new Map<string, number>()
  for (const { id } of calls) counts.set(id, (counts.get(id) ?? 0) + 1)
  return counts
}

const OPEN = "has no result before the next message; send one result for each call, right after the calls"
const TWICE = "has its result already; send one result for each call"
const NO_CALL = "right before it has this id; send each result right after its call, and the call with it"

/** Characters of an id that a refusal repeats. */
const MAX_SHOWN = 64
const shown = (id: string) => JSON.stringify(id.slice(0, MAX_SHOWN))
