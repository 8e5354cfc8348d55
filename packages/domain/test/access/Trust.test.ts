/** For how long Access believes what it looked up: never what was not found, never for a second, never past a change. */
import { expect, it } from "@effect/vitest"
import { Access } from "@sluice/domain/access/Access"
import { type AccessRow, AccessStore } from "@sluice/domain/access/AccessStore"
import { KeyHash } from "@sluice/domain/access/KeyHash"
import { Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"

const T0 = Date.UTC(2027, 2, 15)
const TRUSTED_MS = 900
const keyOf = (n: number) => `svc_live_${String(n).padStart(38, "0")}`

/** A store that answers after `takesMs`, as it was when it was asked; and what it was asked. */
const set = (takesMs = 0) => {
  const asked: Array<string | undefined> = []
  const store = { isActive: true }
  const find = (hash: string, environment: string | undefined) =>
    Effect.suspend(() => {
      asked.push(environment)
      const row: AccessRow | undefined = store.isActive
        ? {
            keyId: hash,
            workspaceId: "w",
            scopes: null,
            rateLimitRpm: 600,
            lastUsedAt: new Date(T0),
            environmentId: environment === undefined ? "e" : null,
            environmentName: "default"
          }
        : undefined
      return takesMs === 0 ? Effect.succeed(row) : Effect.delay(Effect.succeed(row), takesMs)
    })
  const layer = Access.layerNoDeps.pipe(
    Layer.provide([
      Layer.succeed(AccessStore, { find, touch: () => Effect.void } as unknown as AccessStore["Service"]),
      Layer.succeed(KeyHash, { hash: (key) => key.slice(-10).padStart(64, "0") })
    ])
  )
  const access = Effect.andThen(
    TestClock.setTime(T0),
    Effect.map(Layer.build(layer), (context) => Access.pipe(Effect.provide(context)))
  )
  return { access: Effect.flatten(access), asked, store }
}

it.effect("a look-up serves all who ask meanwhile, and is trusted from its beginning on", () =>
  Effect.gen(function* () {
    const { access, asked } = set(500)
    const { authenticate } = yield* access
    const ask = Effect.suspend(() => authenticate(keyOf(1), undefined))
    const first = yield* Effect.forkChild(Effect.all([ask, ask, ask], { concurrency: "unbounded" }))
    yield* TestClock.adjust(500)
    yield* Fiber.join(first)
    yield* TestClock.setTime(T0 + TRUSTED_MS - 1)
    yield* ask
    expect(asked).toHaveLength(1)
    yield* TestClock.setTime(T0 + TRUSTED_MS)
    const later = yield* Effect.forkChild(ask)
    yield* TestClock.adjust(500)
    yield* Fiber.join(later)
    expect(asked).toHaveLength(2)
  }).pipe(Effect.scoped)
)

it.effect("what was not found is not remembered, and a clock that goes back makes nothing last longer", () =>
  Effect.gen(function* () {
    const { access, asked, store } = set()
    const { authenticate } = yield* access
    const ask = Effect.suspend(() => authenticate(keyOf(1), undefined))
    store.isActive = false
    expect((yield* Effect.flip(ask))._tag).toBe("KeyInvalid")
    store.isActive = true
    yield* ask
    yield* ask
    expect(asked).toHaveLength(2)
    store.isActive = false
    yield* TestClock.setTime(T0 - 3_600_000)
    expect((yield* Effect.flip(ask))._tag).toBe("KeyInvalid")
  }).pipe(Effect.scoped)
)

it.effect("what was being looked up when a key changed serves nobody who asks after the change", () =>
  Effect.gen(function* () {
    const { access, store } = set(100)
    const { authenticate, forget } = yield* access
    const ask = Effect.suspend(() => authenticate(keyOf(1), undefined))
    const before = yield* Effect.forkChild(ask, { startImmediately: true })
    store.isActive = false
    yield* forget
    const after = yield* Effect.forkChild(Effect.flip(ask), { startImmediately: true })
    yield* TestClock.adjust(100)
    yield* Effect.exit(Fiber.join(before))
    expect((yield* Fiber.join(after))._tag).toBe("KeyInvalid")
    const last = yield* Effect.forkChild(Effect.flip(ask), { startImmediately: true })
    yield* TestClock.adjust(100)
    expect((yield* Fiber.join(last))._tag).toBe("KeyInvalid")
  }).pipe(Effect.scoped)
)

it.effect("what is no key is not looked up; what is no environment's name is, as one that nobody has", () =>
  Effect.gen(function* () {
    const { access, asked } = set()
    const { authenticate } = yield* access
    for (const bearer of [undefined, "", "svc_live_", `${keyOf(1)}\0`, "x".repeat(47)]) {
      expect((yield* Effect.flip(authenticate(bearer, undefined)))._tag).toBe("KeyInvalid")
    }
    expect(asked).toEqual([])
    for (const name of ["", "a\0", "\ud800", "e".repeat(64)]) {
      expect((yield* Effect.flip(authenticate(keyOf(1), name)))._tag).toBe("EnvironmentNotFound")
    }
    expect(new Set(asked)).toEqual(new Set(["-".repeat(100)]))
    yield* Effect.flip(authenticate(keyOf(1), "lab"))
    expect(asked.at(-1)).toBe("lab")
  }).pipe(Effect.scoped)
)

it.effect("no more callers are known than may be", () =>
  Effect.gen(function* () {
    const { access, asked } = set()
    const { authenticate } = yield* access
    const many = Array.from({ length: 10_001 }, (_, n) => n)
    yield* Effect.forEach(many, (n) => authenticate(keyOf(n), undefined), { discard: true })
    expect(asked).toHaveLength(many.length)
    yield* authenticate(keyOf(10_000), undefined)
    expect(asked).toHaveLength(many.length)
    yield* authenticate(keyOf(0), undefined)
    expect(asked).toHaveLength(many.length + 1)
  }).pipe(Effect.scoped)
)
