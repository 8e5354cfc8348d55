/**
 * The port to the owner of a machine, which is stepped right after the commit that changed the machine. Jobs implement
 * it.
 *
 * The commit that wrote the machine's facts also claimed the owner's row. If the replica dies in between, the row is
 * claimed again when its lease has ended.
 */
import type { Effect } from "effect"
import { Context } from "effect"
import type { MachineFacts } from "./MachineLifecycle.ts"

/** The owner's row as the database returns it. Only the owner knows its columns. */
export interface OwnerRow {
  readonly id: string
}

export class MachineOwner extends Context.Service<
  MachineOwner,
  { readonly stepOwner: (owner: OwnerRow, machine: MachineFacts) => Effect.Effect<void> }
>()("@sluice/domain/machines/MachineOwner") {}
