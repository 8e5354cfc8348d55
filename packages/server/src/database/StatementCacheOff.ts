/**
 * Disables the statement cache of Effect's compiler, which keeps compiled statements in a `WeakMap`; no statement here
 * is compiled twice. The garbage collector keeps the entries of an old `WeakMap` until a full collection, so every
 * statement would outlive its use with all its parameters, which are most of a batch's bytes.
 */
import type { PgClient } from "@effect/sql-pg"

class EmptyCache extends WeakMap<object, never> {
  override set(): this {
    return this
  }
}

/** Field names of the caches in the compiler of effect 4.0.5. */
const caches = { statementCache: new EmptyCache(), statementCacheNoTransform: new EmptyCache() }

export const disableStatementCache = (client: PgClient.PgClient): PgClient.PgClient => {
  const { compiler } = client.unsafe("select 1") as { readonly compiler?: Partial<typeof caches> }
  if (compiler !== undefined) Object.assign(compiler, caches)
  return client
}
