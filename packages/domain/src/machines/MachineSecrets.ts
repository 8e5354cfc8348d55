/**
 * The secret variables of a machine. Sealed values are opened only for the machine's launch and for masking its output.
 */
import { Context, Effect, Layer, Redacted } from "effect"
import { Seal, type SealBroken } from "../database/Seal.ts"
import type { Source } from "./OutputStore.ts"

/** Binds sealed values to their row. */
const aadOf = (machineId: string) => `machines/${machineId}/sealed`

type Variables = ReadonlyMap<string, Redacted.Redacted<string>>

export class MachineSecrets extends Context.Service<
  MachineSecrets,
  {
    /** Returns the sealed variables; null if there are none. */
    readonly seal: (machineId: string, variables: Variables) => Uint8Array | null
    readonly open: (source: Source) => Effect.Effect<Variables, SealBroken>
    /** Returns the values to mask. A broken seal gives none, because its machine was never launched with the values. */
    readonly values: (source: Source) => Effect.Effect<ReadonlyArray<string>>
  }
>()("@sluice/domain/machines/MachineSecrets") {
  static readonly layer = Layer.effect(
    MachineSecrets,
    Effect.gen(function* () {
      const seal = yield* Seal

      const open = Effect.fnUntraced(function* (source: Source) {
        if (source.sealed === null) return new Map<string, Redacted.Redacted<string>>()
        const text = Redacted.value(yield* seal.open(source.sealed, aadOf(source.id)))
        const values: Readonly<Record<string, string>> = JSON.parse(text)
        return new Map(Object.entries(values).map(([name, value]) => [name, Redacted.make(value)]))
      })

      return MachineSecrets.of({
        seal: (machineId, variables) =>
          variables.size === 0
            ? null
            : seal.seal(
                Redacted.make(
                  JSON.stringify(
                    Object.fromEntries([...variables].map(([name, value]) => [name, Redacted.value(value)]))
                  )
                ),
                aadOf(machineId)
              ),
        open,
        values: (source) =>
          open(source).pipe(
            Effect.map((variables) => [...variables.values()].map((value) => Redacted.value(value))),
            Effect.orElseSucceed(() => [])
          )
      })
    })
  )
}
