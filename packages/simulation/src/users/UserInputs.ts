/** What users need to ask: who they are, a server that answers, and what a failure was. */
import { Cause, type Redacted } from "effect"
import type { Chance } from "@sluice/machine-shell/Chance"
import type { History } from "../driver/History.ts"
import type { Tenant } from "../plan/Plan.ts"
import type { ConnectionLost, SimulatedServer } from "../server/SimulatedServer.ts"

export interface Tenancy {
  readonly tenant: Tenant
  readonly workspaceId: string
  readonly environmentId: string
  key: Redacted.Redacted
  keyId: string
}

export interface UserInputs {
  readonly chance: Chance
  readonly history: History
  /** A server that answers, chosen by this name; undefined while there is none. */
  readonly server: (name: string) => SimulatedServer | undefined
}

/** A fault in a few words: the innermost causes say what the database said. */
export const causeText = (cause: Cause.Cause<unknown>): string =>
  Cause.pretty(cause)
    .split("\n")
    .filter((line) => !/^\s+at /.test(line))
    .join(" ")

export const isLost = (failure: unknown): failure is ConnectionLost =>
  typeof failure === "object" && failure !== null && "_tag" in failure && failure._tag === "ConnectionLost"
