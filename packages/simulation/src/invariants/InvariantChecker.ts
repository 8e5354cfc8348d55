/**
 * Holds a run against all invariants. Answers what broke, by invariant; nothing did, where the answer is empty.
 *
 * It never looks into a transaction that is under way: who calls sees to that on a database of one backend.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { EndContext } from "./EndChecksStore.ts"
import { installNotes } from "./EventChecksStore.ts"
import { installGuards } from "./GuardStore.ts"
import { type Finding, type Look, makeInvariantStore } from "./InvariantStore.ts"
import { INVARIANTS, titleOf } from "./Invariants.ts"

export interface Broken {
  /** Its number and name. */
  readonly invariant: string
  readonly found: ReadonlyArray<string>
}

export interface Invariants {
  /** Puts the guards in place. Once a database, before the first check. */
  readonly install: Effect.Effect<void>
  /** Between two steps. */
  readonly check: (context: Look) => Effect.Effect<ReadonlyArray<Broken>>
  /** What holds only at the end of a run; the last `check` is to be asked for beside. */
  readonly checkEnd: (context: EndContext) => Effect.Effect<ReadonlyArray<Broken>>
}

export const makeInvariants = (sql: PgClient.PgClient): Invariants => {
  const store = makeInvariantStore(sql, INVARIANTS)
  return {
    install: Effect.andThen(installGuards(sql, INVARIANTS), installNotes(sql)),
    check: (context) => Effect.map(store.look(context), brokenOf),
    checkEnd: (context) =>
      Effect.forEach(INVARIANTS, (invariant) =>
        Effect.map(invariant.end?.(sql, context) ?? Effect.succeed([]), (found) => ({
          invariant: titleOf(invariant),
          found
        }))
      ).pipe(Effect.map((all) => all.filter(({ found }) => found.length > 0)))
  }
}

const brokenOf = (findings: ReadonlyArray<Finding>): ReadonlyArray<Broken> =>
  findings.length === 0
    ? []
    : INVARIANTS.map((invariant) => ({
        invariant: titleOf(invariant),
        found: findings.filter(({ number }) => number === invariant.number).map(({ found }) => found)
      })).filter(({ found }) => found.length > 0)
