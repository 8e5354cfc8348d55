/** What a run may have given, for its reports. */
import type { MachineRow, Outcome } from "../../../src/report/Outcome.ts"
import { quickScenario } from "../../../src/scenario/Scenarios.ts"
import { Tally } from "../../../src/users/Tally.ts"

export const machines = (given: ReadonlyArray<{ from: number; ms: number; ran: boolean }>): ReadonlyArray<MachineRow> =>
  given.map(({ from, ms, ran }, i) => ({
    id: `m-${i}`,
    gpuType: "H100",
    gpuCount: 2,
    runningAt: ran ? from : null,
    stoppedAt: ran ? from + ms : null,
    jobId: `job-${i}`
  }))

export const outcome = (rows: ReadonlyArray<MachineRow>, name = "job-0"): Outcome => ({
  scenario: quickScenario(4),
  virtualMs: 200,
  wallMs: 100,
  steps: 1,
  statements: 1,
  boots: 1,
  jobs: rows.map((row, i) => ({
    id: i === 0 ? name : row.jobId!,
    workspace: "w",
    gpuType: row.gpuType,
    gpuCount: row.gpuCount,
    status: i % 2 === 0 ? "succeeded" : "failed",
    reason: i % 2 === 0 ? null : "machine_lost",
    createdAt: 0,
    startedAt: row.runningAt,
    endedAt: row.stoppedAt,
    costUsd: 1
  })),
  machines: rows.map((row, i) => (i === 0 ? { ...row, jobId: name } : row)),
  money: [{ at: 0, heldUsd: 1, revenueUsd: 2 }],
  requests: { ...new Tally().counts, videos: { answered: 4, failed: 2, abandoned: 1, reasons: { UpstreamFailed: 2 } } },
  twins: 1,
  followed: 1,
  refused: { CreditInsufficient: 2 },
  strikes: [{ at: 3, fault: "machine_lost", subject: name }],
  struck: { machine_lost: 1 },
  downs: [{ from: 1, to: 2, replica: "main" }],
  checks: 5,
  invariants: ["I1 The books sum to zero"],
  violation: null,
  lastEvents: ["0d 00:00:00.000 main.1 starts"],
  history: "00ff"
})

export const broken: Outcome = {
  ...outcome(machines([{ from: 1, ms: 5, ran: true }])),
  violation: { invariant: "I1 The books sum to zero", found: ["they do not"], at: 5_000, step: 12 }
}
