/**
 * Stopping a machine from the instances area: a job's machine cancels its job (interface: Job status, "machine was stopped
 * from the instances area"). Looking at machines is `Machines`; this is the part that concerns jobs.
 */
import { Context, Effect, Layer } from "effect"
import type { Principal } from "../access/Principal.ts"
import { Wakeups } from "../database/Wakeups.ts"
import type { Machine, MachineNotFound } from "../machines/Machine.ts"
import { Machines } from "../machines/Machines.ts"
import { JobStore } from "./JobStore.ts"

export class Instances extends Context.Service<
  Instances,
  {
    /** Asks for the stop; one that is stopped or stopping already stays as it is. */
    readonly stop: (principal: Principal, id: string) => Effect.Effect<Machine, MachineNotFound>
  }
>()("@sluice/domain/jobs/Instances") {
  static readonly layer = Layer.effect(
    Instances,
    Effect.gen(function* () {
      const machines = yield* Machines
      const store = yield* JobStore
      const wakeups = yield* Wakeups

      const stop = Effect.fn("Instances.stop")(function* (principal: Principal, id: string) {
        const machine = yield* machines.get(principal, id)
        if (machine.jobId === null) return machine
        yield* store.stop(machine.jobId, "instance_stopped")
        yield* wakeups.announce("machines", "jobs")
        return yield* machines.get(principal, id)
      })
      return Instances.of({ stop })
    })
  )
}
