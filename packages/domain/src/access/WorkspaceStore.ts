/** The SQL of workspaces. A workspace, its environment `default` and its account are created in one transaction. */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { rowsOf } from "../database/RowDecoder.ts"
import { DEFAULT_ENVIRONMENT } from "../environments/Environment.ts"

const idRows = rowsOf("WorkspaceStore", Schema.Struct({ id: Schema.String }))

export class WorkspaceStore extends Context.Service<
  WorkspaceStore,
  {
    /** Creates a workspace. False if the name is taken, also if another process took it at the same time. */
    readonly insert: (
      ids: { readonly workspaceId: string; readonly environmentId: string },
      name: string,
      now: Date,
      month: string
    ) => Effect.Effect<boolean>
    readonly find: (name: string) => Effect.Effect<string | undefined>
    /**
     * Locks the workspace until the transaction ends, so that first starts run one after the other. Returns whether the
     * workspace has any key.
     */
    readonly lockAndHasKeys: (workspaceId: string) => Effect.Effect<boolean>
    readonly isKeyOf: (workspaceId: string, hash: string) => Effect.Effect<boolean>
    readonly transaction: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  }
>()("@sluice/domain/access/WorkspaceStore") {
  static readonly layer = Layer.effect(
    WorkspaceStore,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      return WorkspaceStore.of({
        insert: (ids, name, now, month) =>
          Effect.gen(function* () {
            const inserted =
              yield* sql`insert into workspaces (id, name, created_at) values (${ids.workspaceId}, ${name}, ${now}::timestamptz)
              on conflict (name) do nothing returning id`
            if (inserted.length === 0) return false
            yield* sql`insert into environments (id, workspace_id, name, is_default, month, created_at, wake_at)
              values (${ids.environmentId}, ${ids.workspaceId}, ${DEFAULT_ENVIRONMENT}, true, ${month}::date, ${now}::timestamptz, ${now}::timestamptz)`
            yield* sql`insert into accounts (id) values (${ids.workspaceId})`
            return true
          }).pipe(sql.withTransaction, Effect.orDie),
        find: (name) =>
          sql`select id from workspaces where name = ${name}`.pipe(
            Effect.map((rows) => idRows(rows)[0]?.id),
            Effect.orDie
          ),
        lockAndHasKeys: Effect.fnUntraced(function* (workspaceId) {
          yield* sql`select id from workspaces where id = ${workspaceId} for update`
          const keys = yield* sql`select id from api_keys where workspace_id = ${workspaceId} limit 1`
          return keys.length > 0
        }, Effect.orDie),
        isKeyOf: (workspaceId, hash) =>
          sql`select id from api_keys where workspace_id = ${workspaceId} and hash = decode(${hash}, 'hex')`.pipe(
            Effect.map((rows) => rows.length > 0),
            Effect.orDie
          ),
        transaction: (effect) =>
          sql.withTransaction(effect).pipe(Effect.catchTag("SqlError", Effect.die)) as typeof effect
      })
    })
  )
}
