/** A run for programs: the summary, and what broke. Field names stay as they are. */
import type { Outcome, Smaller } from "./Outcome.ts"
import { summaryOf } from "./Summary.ts"

export const jsonReport = (outcome: Outcome, again?: string, smaller?: Smaller) => {
  const summary = summaryOf(outcome)
  const { abandoned, answered, failed } = outcome.requests.chats
  return {
    seed: outcome.scenario.seed,
    virtual_hours: outcome.virtualMs / 3_600_000,
    wall_seconds: outcome.wallMs / 1_000,
    speed: summary.speed,
    jobs: Object.fromEntries(summary.jobsByEnd),
    refused: Object.fromEntries(summary.refused),
    chats: { answered, failed, abandoned },
    requests: outcome.requests,
    twins: outcome.twins,
    followed: outcome.followed,
    machines: summary.machines,
    machine_hours: summary.machineHours,
    gpu_hours: summary.gpuHours,
    cost_usd: summary.costUsd,
    queue_wait_ms: summary.waits,
    faults: Object.fromEntries(summary.faults),
    server_starts: outcome.boots,
    steps: outcome.steps,
    statements: outcome.statements,
    checks: outcome.checks,
    invariants: outcome.invariants.length,
    history: outcome.history,
    violation: outcome.violation,
    /** Of a failure: what to type to see it again, and a smaller scenario that breaks the same. */
    command: again ?? null,
    smaller: smaller ?? null
  }
}
