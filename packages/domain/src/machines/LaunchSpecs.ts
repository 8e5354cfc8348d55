/** Builds the launch parameters of a stored machine from its spec and its variables. */
import { Redacted } from "effect"
import type { LaunchSpec } from "./MachineProvider.ts"
import type { ClaimedMachine } from "./MachineRow.ts"

/**
 * `values`: the decrypted secret variables. The `SERVICE_*` variables are added, and replace values of the same name.
 */
export const launchSpecOf = (
  machine: Pick<ClaimedMachine, "id" | "spec" | "volumeId">,
  values: ReadonlyMap<string, Redacted.Redacted<string>>
): LaunchSpec => {
  const { spec } = machine
  const env = new Map(values)
  for (const [name, value] of Object.entries(spec.variables)) env.set(name, Redacted.make(value))
  return {
    key: machine.id,
    command: spec.command,
    env,
    gpuType: spec.gpuType,
    gpuCount: spec.gpuCount,
    template: spec.template,
    image: spec.image ?? undefined,
    region: spec.region ?? undefined,
    volumeId: machine.volumeId ?? undefined,
    maxRuntimeMs: spec.maxRuntimeMs
  }
}
