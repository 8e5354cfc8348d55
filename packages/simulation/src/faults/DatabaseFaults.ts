/**
 * What happens to a statement on its way to the database: pure decisions from the rates and the latency of a scenario; who
 * carries the statements applies them.
 *
 * Named by what the statement does and how often that was done, never by its connection. Only while armed, and never for
 * what sets a connection up or waits for notifications: a lost LISTEN is the loss of its whole connection, which a fault
 * of any other statement on it brings about.
 */
import type { FaultDraw } from "@sluice/simulator/faults/FaultDraw"

export type DatabaseFault =
  | { readonly _tag: "Delay"; readonly ms: number }
  /** Answered with this SQLSTATE instead of being run; the transaction around it is aborted. */
  | { readonly _tag: "Error"; readonly code: SqlState }
  /** The connection is lost before the statement reached the database, or after it ran: nobody knows which. */
  | { readonly _tag: "DropBefore" }
  | { readonly _tag: "DropAfter" }

/** Serialization failure, deadlock, the server is shut down by its operator. */
export type SqlState = "40001" | "40P01" | "57P01"

export interface DatabaseFaultOptions {
  readonly faultDraw: FaultDraw
  /** How long an ordinary statement takes, ms: from, to. */
  readonly latencyMs: readonly [number, number]
}

/** How long a slow statement takes, ms. */
const SLOW_MS = [500, 10_000] as const

export class DatabaseFaults {
  /** False while a server starts up and migrates. */
  armed = false
  private readonly options: DatabaseFaultOptions

  constructor(options: DatabaseFaultOptions) {
    this.options = options
  }

  /** `text`: the SQL of the batch. Undefined: it runs at once. */
  decide(text: string): DatabaseFault | undefined {
    if (!this.armed) return undefined
    const kind = kindOf(text)
    if (kind === undefined) return undefined
    const { faultDraw, latencyMs } = this.options
    // Left alone: the end of a transaction that failed already, and the rows of the simulated world beside the service's.
    if (kind !== "rollback" && !/\bsim_/.test(text)) {
      if (faultDraw.applies("database_lost", kind)) return lost(faultDraw.draw("lost", kind))
      if (faultDraw.applies("database_serialization", kind)) {
        return { _tag: "Error", code: faultDraw.draw("conflict", kind) < 0.75 ? "40001" : "40P01" }
      }
    }
    const slow = faultDraw.applies("database_slow", kind)
    if (!slow && latencyMs[1] <= 0) return undefined
    const ms = faultDraw.drawBetween("latency", kind, slow ? SLOW_MS : latencyMs)
    return ms > 0 ? { _tag: "Delay", ms } : undefined
  }
}

const lost = (drawn: number): DatabaseFault => {
  if (drawn < 0.4) return { _tag: "DropAfter" }
  return drawn < 0.8 ? { _tag: "DropBefore" } : { _tag: "Error", code: "57P01" }
}

const SPARED = new Set(["listen", "unlisten", "create", "alter", "drop", "set", "reset", "show", "truncate", "analyze"])

/** A statement's verb and what it is about: `update machines`. Undefined for what is never struck. */
export const kindOf = (text: string): string | undefined => {
  const words = text.replace(/\/\*.*?\*\/|--[^\n]*/gs, " ").toLowerCase()
  const verb = /[a-z]+/.exec(words)?.[0]
  if (verb === undefined || SPARED.has(verb)) return undefined
  if (verb === "begin" || verb === "start") return "begin"
  if (verb === "rollback" || verb === "commit" || verb === "savepoint" || verb === "release") return verb
  const written = /\b(?:update|insert\s+into|delete\s+from)\s+"?([a-z_]+)/.exec(words)?.[1]
  const read = /\bfrom\s+"?([a-z_]+)/.exec(words)?.[1]
  return `${verb} ${written ?? read ?? "nothing"}`
}
