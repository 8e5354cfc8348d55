/** The batch statement against a sequential model: random batches of reservations and settlements, over shared accounts. */
import { NodeCrypto } from "@effect/platform-node"
import { expect } from "@effect/vitest"
import { EnvironmentCredit } from "@sluice/domain/metering/CreditBlock"
import { Metering } from "@sluice/domain/metering/Metering"
import { reserveRow } from "@sluice/domain/metering/MeterRows"
import { type MeterRow, MeteringStore } from "@sluice/domain/metering/MeteringStore"
import { Effect, Exit, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { onEveryDatabase, onPostgres } from "@sluice/testing/engines/Databases"
import { idOf, money, openWorkspace, replica as replicaLayer, setBudget } from "@sluice/testing/fixtures/Workspace"

const step = Schema.Struct({
  kind: Schema.Literals(["reserve", "settle", "settleFromBlock"]),
  workspace: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2 })),
  request: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 12 })),
  amount: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 60 })),
  block: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 12 }))
})
const MAX_BATCH = 8
const batches = Schema.Array(Schema.Array(step).check(Schema.isMaxLength(MAX_BATCH))).check(Schema.isMaxLength(6))

interface Account {
  balance: bigint
  held: bigint
  spent: bigint
  readonly budget: bigint | null
}

/** One row after the other; what a batch sees as free is what was free before it, less what it took itself. */
const makeModel = (accounts: ReadonlyArray<Account>) => {
  const holds = new Map<string, { amount: bigint; open: boolean }>()
  const charged = new Set<string>()
  /** The part of a block that each row of a batch may take, so that together they never take more than the block. */
  const share = (block: string) => (holds.get(block)?.amount ?? 0n) / BigInt(MAX_BATCH)
  const run = (rows: ReadonlyArray<MeterRow & { readonly account: number }>) => {
    const free = accounts.map(({ balance, held }) => balance - held)
    const reached = accounts.map(({ budget, spent }) => budget !== null && spent >= budget)
    // All that is held is held for the one environment of the account.
    const room = accounts.map(({ budget, held, spent }) => (budget === null ? null : budget - spent - held))
    const alone = accounts.map(({ held }) => held === 0n)
    const refusalOf = (row: (typeof rows)[number]) => {
      const account = accounts[row.account]!
      if (row.block !== undefined) {
        const block = holds.get(row.block.id)
        if (block?.open !== true || charged.has(row.id)) return null
        charged.add(row.id)
        const charge = row.amount < row.block.reserved ? row.amount : row.block.reserved
        block.amount -= charge
        account.balance -= charge
        account.spent += charge
        account.held -= charge
        return null
      }
      const hold = holds.get(row.id)
      if (row.settle) {
        if (hold?.open !== true) return null
        const extra = row.amount > hold.amount ? row.amount - hold.amount : 0n
        const fits = extra <= free[row.account]!
        const charge = fits ? row.amount : hold.amount
        if (fits) free[row.account]! -= extra
        hold.open = false
        charged.add(row.id)
        account.balance -= charge
        account.spent += charge
        account.held -= hold.amount
        return null
      }
      if (hold !== undefined) return null
      if (reached[row.account]!) return "budget_reached"
      const left = room[row.account]!
      if (left !== null && row.amount > 0n) {
        const claim = alone[row.account] && row.shared !== true && row.amount > left ? left : row.amount
        alone[row.account] = false
        if (claim > left) return "budget_reached"
        room[row.account] = left - claim
      }
      if (row.amount > free[row.account]!) return "insufficient_credits"
      free[row.account]! -= row.amount
      account.held += row.amount
      holds.set(row.id, { amount: row.amount, open: true })
      return null
    }
    return rows.map((row) => {
      const left = { available: free[row.account]!, room: room[row.account]! }
      return { ...left, refused: refusalOf(row) }
    })
  }
  return { run, share }
}

onEveryDatabase("MeteringStore", (it) => {
  it.layer(MeteringStore.layer)("as a sequential model", (it) => {
    it.effect.prop(
      "has the same outcomes and the same books, also when every batch is sent twice",
      [batches],
      ([given]) =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          yield* sql`truncate workspaces, accounts, holds, txns, entries, usage cascade`
          const store = yield* MeteringStore
          const principals = yield* Effect.forEach([0, 1, 2], (n) => openWorkspace(n, 100n))
          yield* setBudget(principals[1]!, 50n)
          const accounts = [null, 50n, null].map((budget) => ({ balance: 100n, held: 0n, spent: 0n, budget }))
          const model = makeModel(accounts)
          for (const batch of given) {
            const seen = new Set<string>()
            const blocks = new Set<string>()
            const rows = batch.flatMap(({ amount, block, kind, request, workspace }) => {
              const principal = principals[workspace]!
              const settle = kind !== "reserve"
              const shared = kind === "settleFromBlock" ? idOf.request(workspace * 100 + block) : undefined
              const id = idOf.request(workspace * 100 + request + (shared === undefined ? 0 : 50))
              // One request is never twice in a batch: the queue keeps them apart. A block is given back after its requests.
              if (seen.has(id) || (shared !== undefined && seen.has(shared))) return []
              if (shared === undefined && blocks.has(id)) return []
              seen.add(id)
              if (shared !== undefined) blocks.add(shared)
              return [
                {
                  settle,
                  id,
                  account: workspace,
                  accountId: principal.workspaceId,
                  environmentId: principal.environmentId,
                  keyId: principal.keyId,
                  amount: BigInt(amount),
                  shared: block % 4 === 0,
                  block: shared === undefined ? undefined : { id: shared, reserved: model.share(shared) },
                  model: "m",
                  description: "",
                  requestId: "r",
                  tokensIn: settle ? 1 : null,
                  tokensOut: settle ? 1 : null
                }
              ]
            })
            const expected = model.run(rows)
            const outcomes = yield* store.flush(rows, 0, 1_000)
            expect(outcomes.map(({ available, refused, room }) => ({ available, refused, room }))).toEqual(expected)
            const again = yield* store.flush(
              rows.filter((_, i) => expected[i]!.refused === null),
              0,
              1_000
            )
            expect(again.every(({ refused }) => refused === null)).toBe(true)
            for (const [n, account] of accounts.entries()) {
              expect(yield* money(principals[n]!)).toMatchObject({
                balance: account.balance,
                held: account.held,
                spent: account.spent,
                openHolds: account.held,
                entries: 0n
              })
            }
          }
        }),
      { arbitrary: { runs: 40 } }
    )

    it.effect("lets one request alone past what is left of a budget, but no block for many", () =>
      Effect.gen(function* () {
        const store = yield* MeteringStore
        const principal = yield* openWorkspace(3, 1_000n)
        yield* setBudget(principal, 50n)
        const purse = new EnvironmentCredit(principal.workspaceId, principal.environmentId)
        const asked = (n: number, shared: boolean) =>
          store.flush([{ ...reserveRow(idOf.request(1_000 + n), purse, 60n), shared }], 0, 1_000)
        expect(yield* asked(1, true)).toMatchObject([{ refused: "budget_reached", room: 50n }])
        expect(yield* asked(2, false)).toMatchObject([{ refused: null }])
        expect(yield* money(principal)).toMatchObject({ held: 60n })
      })
    )
  })
})

onPostgres(
  "Metering of two replicas",
  (it) => {
    const both = Effect.gen(function* () {
      const replica = Effect.map(
        Layer.build(Layer.fresh(Metering.layer.pipe(Layer.provide(Layer.merge(replicaLayer, NodeCrypto.layer))))),
        (context) => Metering.pipe(Effect.provide(context))
      )
      return [yield* yield* replica, yield* yield* replica] as const
    })

    it.effect("200 requests over both on a budget for 3 admit 3", () =>
      Effect.gen(function* () {
        const replicas = yield* both
        const principal = yield* openWorkspace(2, 1_000_000n)
        yield* setBudget(principal, 350n)
        const exits = yield* Effect.forEach(
          Array.from({ length: 200 }, (_, n) => n),
          (n) => Effect.exit(replicas[n % 2]!.reserve({ id: idOf.request(1_000 + n), principal }, 100n)),
          { concurrency: "unbounded" }
        )
        expect(exits.filter(Exit.isSuccess)).toHaveLength(3)
        expect(yield* money(principal)).toMatchObject({ held: 300n, openHolds: 300n })
      }).pipe(Effect.scoped)
    )

    it.effect("200 requests over both on a balance for 3 admit 3, settled once each", () =>
      Effect.gen(function* () {
        const [one, two] = yield* both
        const principal = yield* openWorkspace(1, 300n)
        const tries = Array.from({ length: 200 }, (_, n) => ({
          charge: { id: idOf.request(n), principal },
          by: n % 2 === 0 ? one : two
        }))
        const exits = yield* Effect.forEach(tries, ({ charge, by }) => Effect.exit(by.reserve(charge, 100n)), {
          concurrency: "unbounded"
        })
        const admitted = tries.filter((_, n) => Exit.isSuccess(exits[n]!))
        expect(admitted).toHaveLength(3)
        const settlements = admitted.flatMap(({ charge }) =>
          [one, two, one, two].map((by) =>
            by.settle({ ...charge, model: "m", requestId: "r", tokens: { prompt: 1, completion: 1 }, cost: 90n })
          )
        )
        yield* Effect.all(settlements, { concurrency: "unbounded" })
        expect(yield* money(principal)).toEqual({
          balance: 30n,
          held: 0n,
          spent: 270n,
          usage: 3n,
          entries: 0n,
          openHolds: 0n
        })
      }).pipe(Effect.scoped)
    )
  },
  { live: true }
)
