/** The cache of Access: missing rows are never cached, entries live below a second, and no entry outlives a change. */
import { expect, it } from "@effect/vitest"
import { Access } from "@sluice/domain/access/Access"
import { type AccessRow, AccessStore } from "@sluice/domain/access/AccessStore"
import { KeyHash } from "@sluice/domain/access/KeyHash"
import { Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"

const T0 = Date.UTC(2027, 2, 15)
const TRUSTED_MS = 900
const keyOf = (n: number) => `svc_live_${String(n).padStart(38, "0")}`

/** A store that answers after `takesMs` with its state at the question; and its recorded questions. */
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

it.effect("a look-up serves all concurrent callers, and its age counts from its beginning", () =>
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

it.effect("a missing row is not cached, and a clock that goes back extends no entry", () =>
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

it.effect("a look-up that began before a change serves no caller after the change", () =>
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

it.effect("text that is no key is not looked up; an impossible environment name fails as an unknown one", () =>
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

it.effect("the number of cached callers is bounded", () =>
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
