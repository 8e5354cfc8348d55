/**
 * The calls of tools of one choice, from the pieces in which upstreams send them: with and without index, id, type, with
 * the arguments as text or as an object, all at once or one by one.
 */
import { type ExtraContent, extraContentOf } from "@sluice/domain/models/ExtraContent"
import type { ChatEvent } from "@sluice/domain/models/ModelProvider"
import { MAX_CALLS } from "@sluice/domain/inference/chat/AnswerAccumulator"
import { isRecord, number, text } from "../upstream/Loose.ts"

interface CallState {
  /** The upstream's own number for it. */
  readonly key: number | undefined
  id: string | undefined
  /** Ours; undefined: its name is not known yet. */
  call: number | undefined
  /** What came with it that its upstream wants back. */
  extra: ExtraContent | undefined
  /** Arguments that came before the name. */
  early: string
  hasArguments: boolean
}

export class CallReader {
  /** Calls that have begun. */
  count = 0
  private readonly index: number
  private readonly seed: string
  private readonly calls: Array<CallState> = []

  constructor(index: number, seed: string) {
    this.index = index
    this.seed = seed
  }

  /**
   * `whole`: calls come whole, so that each name begins one, whatever number and id it has.
   * False: there are too many.
   */
  read(piece: unknown, whole: boolean, events: Array<ChatEvent>): boolean {
    if (!isRecord(piece)) return true
    const fn = isRecord(piece["function"]) ? piece["function"] : piece
    const name = nonEmpty(fn["name"])
    const id = nonEmpty(piece["id"])
    const args = argumentsOf(fn["arguments"])
    const key = number(piece["index"])
    const found = whole && name !== undefined ? undefined : this.find(key, id, name)
    if (found === undefined && id === undefined && name === undefined && args === "") return true
    const state = found ?? this.begin(key, id)
    if (state === undefined) return false
    state.extra ??= extraContentOf(piece["extra_content"])
    if (state.call === undefined && name !== undefined) {
      state.id ??= id
      const given = this.isTaken(state.id) ? undefined : state.id
      state.call = this.count++
      events.push({
        _tag: "ToolCall",
        index: this.index,
        call: state.call,
        id: given ?? `call_${this.seed}_${state.call}`,
        name,
        ...(state.extra === undefined ? {} : { extra: state.extra })
      })
      this.say(state, state.early, events)
    }
    if (state.call === undefined) state.early += args
    else this.say(state, args, events)
    return true
  }

  /** False: a call never had a name. A call without arguments gets empty ones, so that they are JSON. */
  finish(events: Array<ChatEvent>): boolean {
    for (const state of this.calls) {
      if (state.call === undefined) return false
      if (!state.hasArguments) this.say(state, "{}", events)
    }
    return true
  }

  private say(state: CallState, args: string, events: Array<ChatEvent>): void {
    if (args === "" || state.call === undefined) return
    state.hasArguments = true
    events.push({ _tag: "ToolArguments", index: this.index, call: state.call, text: args })
  }

  /** The call that a piece goes on with; undefined: it begins one. */
  private find(key: number | undefined, id: string | undefined, name: string | undefined): CallState | undefined {
    if (key !== undefined) {
      const found = this.calls.findLast((state) => state.key === key)
      // Some give each call the number 0, and an id of its own.
      const other = id !== undefined && name !== undefined && found?.id !== undefined && found.id !== id
      return other ? undefined : found
    }
    if (id !== undefined) return this.calls.find((state) => state.id === id)
    return name === undefined ? this.calls.at(-1) : undefined
  }

  /** Some give all calls one id; callers tell outputs apart by it. */
  private isTaken(id: string | undefined): boolean {
    return this.calls.some((state) => state.call !== undefined && state.id === id)
  }

  private begin(key: number | undefined, id: string | undefined): CallState | undefined {
    if (this.calls.length >= MAX_CALLS) return undefined
    const state: CallState = { key, id, call: undefined, extra: undefined, early: "", hasArguments: false }
    this.calls.push(state)
    return state
  }
}

const nonEmpty = (value: unknown): string | undefined => (value === "" ? undefined : text(value))

const argumentsOf = (value: unknown): string => text(value) ?? (isRecord(value) ? JSON.stringify(value) : "")
