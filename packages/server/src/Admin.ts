/**
 * The operator's commands on the database: workspaces, keys and credit (decisions: Running it, `sluice admin`). An
 * embedded database is opened exclusively, so the server must be stopped; a PostgreSQL may be in use. The commands
 * create no data directory: a mistyped path is an error. The `message` of every error says what to do.
 */
import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { Workspaces } from "@sluice/domain/access/Workspaces"
import { LedgerStore } from "@sluice/domain/billing/LedgerStore"
import { fromUsd, toUsd, usdText } from "@sluice/domain/billing/Money"
import { nameIssue } from "@sluice/domain/requests/Name"
import type { Redacted } from "effect"
import { Crypto, Effect, Layer, Schema } from "effect"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { nodeKeyHash } from "./access/NodeKeyHash.ts"
import { worldClock } from "./clock/WorldClock.ts"
import { worldSpeed } from "./clock/WorldClockStore.ts"
import type { DatabaseClients } from "./database/Database.ts"
import { openEmbedded, postgres } from "./database/Database.ts"
import type { DatabaseFailure } from "./database/DatabaseErrors.ts"
import { failWithRefusal } from "./database/DatabaseRefusal.ts"

/** The database to open. */
export interface Place {
  readonly data: string
  readonly databaseUrl: Redacted.Redacted | undefined
}

/** The command was refused; `reason` says why and what to do. */
class AdminRefused extends Schema.TaggedError<AdminRefused>()("AdminRefused", { reason: Schema.String }) {
  override get message(): string {
    return this.reason
  }
}

export const createWorkspace = Effect.fn("Admin.createWorkspace")(function* (place: Place, name: string) {
  yield* checkName("The workspace's name", name)
  const create = Effect.flatMap(Workspaces, (workspaces) => workspaces.create(name)).pipe(
    Effect.mapError(() => new AdminRefused({ reason: `A workspace called ${name} exists already.` }))
  )
  return { id: yield* onDatabase(place, create), name }
})

/** Creates a key with all scopes. The key is returned only here. */
export const createKey = Effect.fn("Admin.createKey")(function* (place: Place, workspace: string, name: string) {
  yield* checkName("The key's name", name)
  const create = Effect.gen(function* () {
    const id = yield* find(workspace)
    return yield* (yield* Workspaces).createKey(id, name)
  })
  return { key: yield* onDatabase(place, create), workspace, name }
})

/**
 * Credits `usd`, a decimal text like `12.5`, and returns the balance in USD. With a reference the credit is idempotent:
 * a repeated reference credits nothing, and one with another amount fails. Without a reference every call credits.
 */
export const credit = Effect.fn("Admin.credit")(function* (
  place: Place,
  workspace: string,
  usd: string,
  reference: string | undefined
) {
  if (!/^\d{1,7}(\.\d{1,9})?$/.test(usd) || !(Number(usd) > 0)) {
    return yield* new AdminRefused({
      reason: "--usd must be an amount above 0 and below 10000000, with at most 9 decimals, like 50 or 12.5."
    })
  }
  if (reference !== undefined) yield* checkName("--reference", reference)
  const creditOnce = Effect.gen(function* () {
    const id = yield* find(workspace)
    const ledger = yield* LedgerStore
    const crypto = yield* Crypto.Crypto
    const amount = fromUsd(Number(usd))
    const earlier = yield* ledger.credit(id, amount, reference ?? (yield* Effect.orDie(crypto.randomUUIDv7())))
    if (earlier !== undefined && earlier !== amount) {
      return yield* new AdminRefused({
        reason: `${reference} was credited to ${workspace} with $${usdText(earlier)} already, so nothing was credited now. To credit more, use another --reference.`
      })
    }
    const { balance, held } = yield* ledger.balance(id)
    const already_credited = earlier !== undefined
    return { workspace, balance_usd: toUsd(balance), available_usd: toUsd(balance - held), already_credited }
  })
  return yield* onDatabase(place, creditOnce)
})

const onDatabase = <A, E>(place: Place, action: Effect.Effect<A, E, Workspaces | LedgerStore | Crypto.Crypto>) =>
  Effect.gen(function* () {
    const { data, databaseUrl } = place
    if (databaseUrl === undefined && !existsSync(join(data, "pg"))) {
      return yield* new AdminRefused({
        reason: `There is no database in ${data}. Name its directory with --data, or start the server there once to create it.`
      })
    }
    const database: Layer.Layer<DatabaseClients, DatabaseFailure> =
      databaseUrl === undefined ? openEmbedded(data) : postgres({ url: databaseUrl })
    const clock = Layer.unwrap(Effect.map(worldSpeed, worldClock))
    const services = Layer.mergeAll(Workspaces.layer, LedgerStore.layer).pipe(
      Layer.provideMerge(NodeCrypto.layer),
      Layer.provide(nodeKeyHash),
      Layer.provideMerge(clock),
      Layer.provide(database)
    )
    return yield* failWithRefusal(Effect.provide(action, services))
  })

const find = Effect.fnUntraced(function* (workspace: string) {
  const workspaces = yield* Workspaces
  const reason = `There is no workspace called ${workspace}. Create it with: sluice admin workspace create ${workspace}`
  return yield* Effect.mapError(workspaces.find(workspace), () => new AdminRefused({ reason }))
})

const checkName = (what: string, text: string) => {
  const issue = nameIssue(text)
  return issue === undefined ? Effect.void : Effect.fail(new AdminRefused({ reason: `${what} ${issue}.` }))
}
