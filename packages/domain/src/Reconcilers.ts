/** Starts every background loop of the server: the reconcilers and the sweeps. */
import { Effect, Layer } from "effect"
import { BudgetReconciler } from "./billing/BudgetReconciler.ts"
import { OutboxSweep } from "./database/OutboxSweep.ts"
import { HoldSweep } from "./metering/HoldSweep.ts"
import { VideoReconciler } from "./videos/VideoReconciler.ts"
import { JobReconciler } from "./jobs/JobReconciler.ts"
import { MachineReconciler } from "./machines/MachineReconciler.ts"
import { MachineSweep } from "./machines/MachineSweep.ts"
import { VolumeSweep } from "./storage/VolumeSweep.ts"

const loops = Layer.effectDiscard(
  Effect.gen(function* () {
    const machines = yield* MachineReconciler
    const jobs = yield* JobReconciler
    const budgets = yield* BudgetReconciler
    const sweeps = [yield* MachineSweep, yield* VolumeSweep, yield* HoldSweep, yield* OutboxSweep]
    for (const { run } of [machines, jobs, budgets, ...sweeps]) yield* Effect.forkScoped(run)
  })
)

/** Runs every loop until the layer's scope closes. */
export const layer = Layer.mergeAll(loops, VideoReconciler.loop)
