/** Runs of requests under an Idempotency-Key. */
import type { Attempt } from "@sluice/domain/idempotency/Attempt"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** A run whose resource gets this id, and which holds the key until it is claimed anew. */
export const claimed = Effect.fnUntraced(function* (
  workspaceId: string,
  id: string,
  lockedUntil = new Date(0),
  isRetry = false
) {
  const sql = yield* SqlClient.SqlClient
  yield* sql.unsafe(
    `insert into idempotency_keys (workspace_id, key, request_hash, attempt_id, locked_until, created_at) values ($1, $2, '', $3, $4, $4)
      on conflict (workspace_id, key) do update set locked_until = excluded.locked_until`,
    [workspaceId, id, id, lockedUntil]
  )
  return { id, isRetry, key: id, lockedUntil } satisfies Attempt
})
