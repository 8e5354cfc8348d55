/**
 * What operators do on the database itself: workspaces, keys, credit (decisions: Running it, `sluice admin`). An embedded
 * database is opened alone, so the server has to be stopped; PostgreSQL may be in use. It makes no data directory: a
 * mistyped one is told instead. Every error's `message` says what to do.
 */
import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { Workspaces } from "@sluice/domain/access/Workspaces"
import { LedgerStore } from "@sluice/domain/billing/LedgerStore"
import { fromUsd, toUsd, usdText } from "@sluice/domain/billing/Money"
import { Name } from "@sluice/domain/requests/Name"
import type { Redacted } from "effect"
import { Crypto, Effect, Layer, Schema } from "effect"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { nodeKeyHash } from "./access/NodeKeyHash.ts"
import { worldClock } from "./clock/WorldClock.ts"
import { worldSpeed } from "./clock/WorldClockStore.ts"
import type { DatabaseClients } from "./database/Database.ts"
import { embedded, postgres } from "./database/Database.ts"
import type { DatabaseFailure } from "./database/DatabaseErrors.ts"
import { failWithRefusal } from "./database/DatabaseRefusal.ts"

/** Which database. */
export interface Place {
  readonly data: string
  readonly databaseUrl: Redacted.Redacted | undefined
}

/** What was asked for can't be done. */
class AdminRefused extends Schema.TaggedError<AdminRefused>()("AdminRefused", { reason: Schema.String }) {
  override get message(): string {
    return this.reason
  }
}

export const createWorkspace = Effect.fn("Admin.createWorkspace")(function* (place: Place, name: string) {
  yield* named("The workspace's name", name)
  const create = Effect.flatMap(Workspaces, (workspaces) => workspaces.create(name)).pipe(
    Effect.mapError(() => new AdminRefused({ reason: `There is a workspace called ${name} already.` }))
  )
  return { id: yield* on(place, create), name }
})

/** A key with all scopes, given this once. */
export const createKey = Effect.fn("Admin.createKey")(function* (place: Place, workspace: string, name: string) {
  yield* named("The key's name", name)
  const create = Effect.gen(function* () {
    const id = yield* find(workspace)
    return yield* (yield* Workspaces).createKey(id, name)
  })
  return { key: yield* on(place, create), workspace, name }
})

/**
 * `usd` as typed, like `12.5`. Without a reference every call credits; with one, the first, and another amount is refused.
 * Gives the balance, in USD.
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
  if (reference !== undefined) yield* named("--reference", reference)
  const give = Effect.gen(function* () {
    const id = yield* find(workspace)
    const ledger = yield* LedgerStore
    const crypto = yield* Crypto.Crypto
    const amount = fromUsd(Number(usd))
    const earlier = yield* ledger.credit(id, amount, reference ?? (yield* Effect.orDie(crypto.randomUUIDv7())))
    if (earlier !== undefined && earlier !== amount) {
      return yield* new AdminRefused({
        reason: `${reference} was credited to ${workspace} with $${usdText(earlier)} already, so nothing was credited now. For more, give another --reference.`
      })
    }
    const { balance, held } = yield* ledger.balance(id)
    const already_credited = earlier !== undefined
    return { workspace, balance_usd: toUsd(balance), available_usd: toUsd(balance - held), already_credited }
  })
  return yield* on(place, give)
})

const on = <A, E>(place: Place, act: Effect.Effect<A, E, Workspaces | LedgerStore | Crypto.Crypto>) =>
  Effect.gen(function* () {
    const { data, databaseUrl } = place
    if (databaseUrl === undefined && !existsSync(join(data, "pg"))) {
      return yield* new AdminRefused({
        reason: `There is no database in ${data}. Name its directory with --data, or start the server there once.`
      })
    }
    const database: Layer.Layer<DatabaseClients, DatabaseFailure> =
      databaseUrl === undefined ? embedded(data) : postgres({ url: databaseUrl })
    const clock = Layer.unwrap(Effect.map(worldSpeed, worldClock))
    const services = Layer.mergeAll(Workspaces.layer, LedgerStore.layer).pipe(
      Layer.provideMerge(NodeCrypto.layer),
      Layer.provide(nodeKeyHash),
      Layer.provideMerge(clock),
      Layer.provide(database)
    )
    return yield* failWithRefusal(Effect.provide(act, services))
  })

const find = Effect.fnUntraced(function* (workspace: string) {
  const workspaces = yield* Workspaces
  const reason = `There is no workspace called ${workspace}. Make it with: sluice admin workspace create ${workspace}`
  return yield* Effect.mapError(workspaces.find(workspace), () => new AdminRefused({ reason }))
})

const isName = Schema.is(Name)
const named = (what: string, text: string) =>
  isName(text)
    ? Effect.void
    : Effect.fail(new AdminRefused({ reason: `${what} must be a text of 1 to 63 characters in one line.` }))
