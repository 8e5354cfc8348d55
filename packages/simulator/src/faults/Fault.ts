/**
 * The faults of a scenario, by name, each with a rate.
 *
 * Faults of the world (its machines and models) and of the database apply to a single call: their rate is a chance from
 * 0 to 1. Faults of whole processes and of the wall clock become items of the plan: their rate is the expected number
 * in an hour.
 */
export const WORLD_FAULTS = [
  "launch_refused",
  "launch_answers_error",
  "visible_late",
  "machine_lost",
  "machine_hangs",
  "start_slow",
  "start_endless",
  "exit_unreported",
  "listing_empty",
  "listing_partial",
  "listing_stale",
  "listing_fails",
  "offers_fail",
  "stop_retries",
  "log_cut",
  "log_repeated",
  "log_flood",
  "volume_save_fails",
  "model_429",
  "model_500",
  "model_hangs",
  "model_cut",
  "model_malformed"
] as const
export const DATABASE_FAULTS = ["database_lost", "database_serialization", "database_slow"] as const
export const CALL_FAULTS = [...WORLD_FAULTS, ...DATABASE_FAULTS] as const
export const PLANNED_FAULTS = ["server_killed", "replica_joins", "clock_jumps"] as const

export type WorldFault = (typeof WORLD_FAULTS)[number]
export type CallFault = (typeof CALL_FAULTS)[number]
export type PlannedFault = (typeof PLANNED_FAULTS)[number]
export type Fault = CallFault | PlannedFault

export type FaultRates = Readonly<Record<Fault, number>>

/** The rates without any fault. */
export const noFaults = Object.fromEntries([...CALL_FAULTS, ...PLANNED_FAULTS].map((fault) => [fault, 0])) as FaultRates

/**
 * A fault that took effect, for the report and the history. `subject` names the machine, the model or the kind of
 * statement.
 */
export interface AppliedFault {
  readonly at: number
  readonly fault: Fault
  readonly subject: string
}
