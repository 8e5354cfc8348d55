/**
 * A client whose statements are forgotten once they ran. Effect's compiler keeps what a statement was compiled to in a `WeakMap`,
 * for whoever compiles it again; nobody here does. But the collector takes what an old `WeakMap` holds for alive until it goes
 * through the whole heap: every statement outlived its time with all its parameters, which is most of what a batch writes.
 */
import type { PgClient } from "@effect/sql-pg"

class Forgetting extends WeakMap<object, never> {
  override set(): this {
    return this
  }
}

/** Where the compiler of effect 4.0.5 remembers. */
const memories = { statementCache: new Forgetting(), statementCacheNoTransform: new Forgetting() }

export const disableStatementCache = (client: PgClient.PgClient): PgClient.PgClient => {
  const { compiler } = client.unsafe("select 1") as { readonly compiler?: Partial<typeof memories> }
  if (compiler !== undefined) Object.assign(compiler, memories)
  return client
}
