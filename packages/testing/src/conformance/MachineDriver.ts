/** Drives a provider of machines in tests: launches, lets time pass, looks, reads. */
import type {
  LaunchSpec,
  MachineProviderService,
  MachineState,
  Observation
} from "@sluice/domain/machines/MachineProvider"
import { Clock, Effect } from "effect"

export class Machines {
  readonly provider: MachineProviderService
  readonly #pass: (ms: number) => Effect.Effect<void>
  readonly #gpuType: string

  constructor(provider: MachineProviderService, pass: (ms: number) => Effect.Effect<void>, gpuType: string) {
    this.provider = provider
    this.#pass = pass
    this.#gpuType = gpuType
  }

  spec(key: string, command: string, over: Partial<LaunchSpec> = {}): LaunchSpec {
    return specOf(key, command, { gpuType: this.#gpuType, ...over })
  }

  until(key: string, wanted: (state: MachineState) => boolean) {
    return lookUntil(this.provider, this.#pass, key, wanted)
  }

  text(key: string) {
    return Effect.map(readAll(this.provider, key), (bytes) => bytes.toString())
  }

  toExit(key: string, command: string) {
    return Effect.gen({ self: this }, function* () {
      yield* this.provider.launch(this.spec(key, command))
      const { state } = yield* this.until(key, exited)
      return state._tag === "Running" ? state.command : undefined
    })
  }
}

export const specOf = (key: string, command: string, over: Partial<LaunchSpec> = {}): LaunchSpec => ({
  key,
  command,
  env: new Map(),
  gpuType: "H100",
  gpuCount: 1,
  template: "ubuntu-devbox",
  image: undefined,
  region: undefined,
  volumeId: undefined,
  maxRuntimeMs: 3_600_000,
  ...over
})

const MAX_LOOKS = 2_000

/** Looks again and again, letting time pass between, until the state is as wanted. */
export const lookUntil = (
  provider: MachineProviderService,
  pass: (ms: number) => Effect.Effect<void>,
  key: string,
  wanted: (state: MachineState) => boolean
) =>
  Effect.gen(function* () {
    let seen: Observation | undefined
    for (let looks = 0; looks < MAX_LOOKS; looks++) {
      seen = yield* provider.observe(key)
      if (wanted(seen.state)) return seen
      const now = yield* Clock.currentTimeMillis
      const next = Math.min(seen.nextAt ?? now + 100, seen.nextOutputAt ?? now + 100, now + 60_000)
      yield* pass(Math.max(1, next - now))
    }
    return yield* Effect.die(new Error(`never came: ${key} is ${JSON.stringify(seen)}`))
  })

export const exited = (state: MachineState) => state._tag === "Running" && state.command._tag === "Exited"
export const started = (state: MachineState) => state._tag === "Running" && state.command._tag !== "Pending"
export const stopped = (state: MachineState) => state._tag === "Stopped"

export const readAll = (provider: MachineProviderService, key: string) =>
  Effect.gen(function* () {
    const parts: Array<Uint8Array> = []
    for (let from = 0; ;) {
      const { bytes } = yield* provider.read(key, from, 1024 * 1024)
      if (bytes.length === 0) return Buffer.concat(parts)
      parts.push(bytes)
      from += bytes.length
    }
  })
