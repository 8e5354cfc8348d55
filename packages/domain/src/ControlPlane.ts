/**
 * Composes the control plane as one layer: machines, jobs and money over a database, a machine provider and a seal.
 *
 * The layer starts no loop: `Reconcilers.layer` runs the reconcilers and the sweeps.
 */
import { Layer } from "effect"
import { Billing } from "./billing/Billing.ts"
import { BudgetReconciler } from "./billing/BudgetReconciler.ts"
import { BudgetStore } from "./billing/BudgetStore.ts"
import { HoldStore } from "./billing/HoldStore.ts"
import { LedgerStore } from "./billing/LedgerStore.ts"
import { Signals } from "./database/Signals.ts"
import { Wakeups } from "./database/Wakeups.ts"
import { JobAdmissionStore } from "./jobs/JobAdmissionStore.ts"
import { JobListStore } from "./jobs/JobListStore.ts"
import { JobLogs } from "./jobs/JobLogs.ts"
import { JobReconciler } from "./jobs/JobReconciler.ts"
import { Jobs } from "./jobs/Jobs.ts"
import { JobStore } from "./jobs/JobStore.ts"
import { MachineListStore } from "./machines/MachineListStore.ts"
import { MachineReconciler } from "./machines/MachineReconciler.ts"
import { Machines } from "./machines/Machines.ts"
import { MachineSecrets } from "./machines/MachineSecrets.ts"
import { MachineSteps } from "./machines/MachineSteps.ts"
import { MachineStore } from "./machines/MachineStore.ts"
import { MachineSweep } from "./machines/MachineSweep.ts"
import { Outputs } from "./machines/Outputs.ts"
import * as TimedMachines from "./machines/TimedMachines.ts"
import { OutputStore } from "./machines/OutputStore.ts"
import { VolumeStore } from "./storage/VolumeStore.ts"
import { VolumeSweep } from "./storage/VolumeSweep.ts"

const stores = Layer.mergeAll(
  BudgetStore.layer,
  HoldStore.layer,
  JobAdmissionStore.layer,
  JobListStore.layer,
  JobStore.layer,
  LedgerStore.layer,
  MachineListStore.layer,
  MachineSecrets.layer,
  MachineStore.layer,
  OutputStore.layer,
  VolumeStore.layer,
  Wakeups.layer.pipe(Layer.provideMerge(Signals.layer))
)

const jobs = JobReconciler.layerOwner.pipe(Layer.provideMerge(JobReconciler.layer))

const machines = Layer.mergeAll(Machines.layer, MachineReconciler.layer, MachineSweep.layer, VolumeSweep.layer).pipe(
  Layer.provideMerge(MachineSteps.layer),
  Layer.provideMerge(Layer.mergeAll(Outputs.layer, jobs))
)

/** Requires the database clients, `Replica`, `Seal`, `MachineProvider` and `Crypto`. */
export const layer = JobLogs.layer.pipe(
  Layer.provideMerge(Jobs.layer),
  Layer.provideMerge(Layer.mergeAll(BudgetReconciler.layer, Billing.layer)),
  Layer.provideMerge(machines),
  Layer.provideMerge(stores),
  Layer.provide(TimedMachines.layer)
)
