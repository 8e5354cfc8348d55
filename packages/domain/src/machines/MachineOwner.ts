/**
 * The port to what a machine belongs to: who is told, in the same breath, that the machine changed. Jobs implement it.
 *
 * The owner's row was claimed by the commit that wrote the machine's facts; whoever dies in between leaves it to whoever
 * claims it when the lease has run out.
 */
import type { Effect } from "effect"
import { Context } from "effect"
import type { MachineFacts } from "./MachineLifecycle.ts"

/** The owner's row as the database gives it; only its owner knows what is in it. */
export interface OwnerRow {
  readonly id: string
}

export class MachineOwner extends Context.Service<
  MachineOwner,
  { readonly stepOwner: (owner: OwnerRow, machine: MachineFacts) => Effect.Effect<void> }
>()("@sluice/domain/machines/MachineOwner") {}
