/**
 * The variables of a machine: its sealed values opened for its launch and for masking its output, and nowhere else.
 */
import { Context, Effect, Layer, Redacted } from "effect"
import { Seal, type SealBroken } from "../database/Seal.ts"
import type { Source } from "./OutputStore.ts"

/** Binds sealed values to the row that they belong to. */
const aadOf = (machineId: string) => `machines/${machineId}/sealed`

type Variables = ReadonlyMap<string, Redacted.Redacted<string>>

export class MachineSecrets extends Context.Service<
  MachineSecrets,
  {
    /** Null when there is nothing to seal. */
    readonly seal: (machineId: string, variables: Variables) => Uint8Array | null
    readonly open: (source: Source) => Effect.Effect<Variables, SealBroken>
    /** The values to mask. A seal that is broken masks nothing: its machine was never launched with them. */
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
