/** All that works in the background, in one place. */
import { Effect, Layer } from "effect"
import { Budgets } from "./billing/Budgets.ts"
import { MeteringReconciler } from "./inference/MeteringReconciler.ts"
import { VideoReconciler } from "./inference/VideoReconciler.ts"
import { JobReconciler } from "./jobs/JobReconciler.ts"
import { MachineReconciler } from "./machines/MachineReconciler.ts"
import { MachineSweep } from "./machines/MachineSweep.ts"
import { VolumeSweep } from "./storage/VolumeSweep.ts"

const controlPlane = Layer.effectDiscard(
  Effect.gen(function* () {
    const machines = yield* MachineReconciler
    const jobs = yield* JobReconciler
    const budgets = yield* Budgets
    const sweep = yield* MachineSweep
    const volumes = yield* VolumeSweep
    for (const loop of [machines.run, jobs.run, budgets.run, sweep.run, volumes.run]) yield* Effect.forkScoped(loop)
  })
)

/** Runs every loop until the layer's scope closes. */
export const layer = Layer.mergeAll(controlPlane, MeteringReconciler.loop, VideoReconciler.loop)
