/**
 * Disables the statement cache of Effect's compiler, which keeps compiled statements in a `WeakMap`; no statement here
 * is compiled twice. The garbage collector keeps the entries of an old `WeakMap` until a full collection, so every
 * statement would outlive its use with all its parameters, which are most of a batch's bytes.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect, Schema } from "effect"

class EmptyCache extends WeakMap<object, never> {
  override set(): this {
    return this
  }
}

/** Field names of the caches in the compiler of effect 4.0.5. */
const caches = { statementCache: new EmptyCache(), statementCacheNoTransform: new EmptyCache() }

/** Without these fields every statement would stay in memory with its parameters, and nothing else would show it. */
export class StatementCacheUnknown extends Schema.TaggedError<StatementCacheUnknown>()("StatementCacheUnknown", {
  fields: Schema.Array(Schema.String)
}) {
  override get message(): string {
    return (
      `This version of effect does not keep compiled statements in ${this.fields.join(" and ")}: install the version that ` +
      "package-lock.json names, or adapt packages/server/src/database/StatementCacheOff.ts."
    )
  }
}

/** Dies where the compiler has no such fields: the versions that are installed do not fit this source. */
export const disableStatementCache = (client: PgClient.PgClient): Effect.Effect<PgClient.PgClient> => {
  const { compiler } = client.unsafe("select 1") as { readonly compiler?: Readonly<Record<string, unknown>> }
  const missing = Object.keys(caches).filter((field) => !(compiler?.[field] instanceof WeakMap))
  if (compiler === undefined || missing.length > 0) return Effect.die(new StatementCacheUnknown({ fields: missing }))
  Object.assign(compiler, caches)
  return Effect.succeed(client)
}
