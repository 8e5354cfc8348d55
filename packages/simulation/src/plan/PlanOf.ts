/**
 * The plan that a scenario's seed makes. Every property of every item is drawn by the item's own name, so that a changed
 * rate adds or removes items and leaves the others as they are.
 */
import { defaultWorld } from "@sluice/simulator/world/World"
import { between, type Chance, chance } from "@sluice/machine-shell/Chance"
import type { Scenario } from "../scenario/Scenario.ts"
import type { Plan, PlanItem, Submit, Tenant } from "./Plan.ts"
import { oneOf, requestsOf } from "./RequestsOf.ts"

const HOUR = 3_600_000
const MINUTE = 60_000
const LARGE_USD = 1_000_000

export const planOf = (scenario: Scenario): Plan => {
  const draws = chance(scenario.seed)
  const tenants = tenantsOf(scenario, draws)
  const at = (id: string) => Math.floor(draws.draw(`${id}/at`) * scenario.hours * HOUR)
  const named = (kind: string, perHour: number): ReadonlyArray<string> => {
    const expected = perHour * scenario.hours
    const count = Math.floor(expected) + (draws.draw(`${kind}s`) < expected % 1 ? 1 : 0)
    return Array.from({ length: count }, (_, i) => `${kind}-${i + 1}`)
  }
  const items: Array<PlanItem> = [
    ...named("job", scenario.jobsPerHour).map((id) => submitOf(id, at(id), scenario, draws, tenants)),
    ...requestsOf(scenario, draws, named, at, tenants),
    ...named("deletion", (scenario.jobsPerHour * scenario.shares.withVolume) / 4).map((id): PlanItem => ({
      _tag: "DeleteVolume",
      id,
      at: at(id),
      workspace: oneOf(draws.draw(`${id}/workspace`), tenants).name,
      volume: volumeOf(draws.draw(`${id}/which`))
    })),
    ...named("key", scenario.workspaces / 24).map((id): PlanItem => ({
      _tag: "RotateKey",
      id,
      at: at(id),
      workspace: oneOf(draws.draw(`${id}/workspace`), tenants).name
    })),
    ...named("credit", scenario.workspaces / 12).map((id): PlanItem => ({
      _tag: "Credit",
      id,
      at: at(id),
      workspace: oneOf(draws.draw(`${id}/workspace`), tenants).name,
      usd: between(draws.draw(`${id}/usd`), 1, 20)
    })),
    ...named("budget", scenario.workspaces / 24).map((id): PlanItem => ({
      _tag: "Budget",
      id,
      at: at(id),
      workspace: oneOf(draws.draw(`${id}/workspace`), tenants).name,
      usd: draws.draw(`${id}/cleared`) < 0.3 ? null : partOf(scenario, draws.draw(`${id}/usd`))
    })),
    ...mishaps(scenario, draws, named, at)
  ]
  return { tenants, items: items.sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1)) }
}

const tenantsOf = (scenario: Scenario, draws: Chance): ReadonlyArray<Tenant> =>
  Array.from({ length: scenario.workspaces }, (_, i) => {
    const name = `workspace-${i + 1}`
    const poor = draws.draw(`${name}/poor`) < scenario.shares.poor
    const thrifty = draws.draw(`${name}/thrifty`) < scenario.shares.withBudget
    return {
      name,
      creditUsd: poor ? partOf(scenario, draws.draw(`${name}/credit`)) : LARGE_USD,
      monthlyBudgetUsd: thrifty ? partOf(scenario, draws.draw(`${name}/budget`)) : null
    }
  })

const submitOf = (
  id: string,
  at: number,
  scenario: Scenario,
  draws: Chance,
  tenants: ReadonlyArray<Tenant>
): Submit => {
  const d = (what: string) => draws.draw(`${id}/${what}`)
  const [low, high] = scenario.jobMinutes
  const minutes = low * (high / low) ** d("minutes")
  const type = oneOf(d("type"), defaultWorld.gpuTypes)
  const gpuCount = d("count") < 0.7 ? 1 : Math.min(type.maxGpuCount, 2)
  const withVolume = d("volume") < scenario.shares.withVolume
  // Three out of four ask for more time than they need.
  const allowed = d("allowed") < 0.75 ? minutes * (1.2 + d("more")) + 2 : minutes * (0.3 + 0.7 * d("less"))
  const price = type.priceUsdPerGpuHour * gpuCount
  const cancelled = d("cancelled") < scenario.shares.cancelled
  // At once, in the launch, in the middle, too late: evenly on a logarithmic scale.
  const sometime = (drawn: number) => Math.round(10 * ((minutes * MINUTE * 1.5) / 10) ** drawn)
  return {
    _tag: "Submit",
    id,
    at,
    workspace: oneOf(d("workspace"), tenants).name,
    // Volumes are where these machines are.
    gpuType: withVolume ? "H100" : type.id,
    gpuCount,
    runMs: Math.round(minutes * MINUTE),
    outputBytes: between(d("output"), 10, 4_000),
    exitCode: d("exit") < 0.7 ? 0 : between(d("code"), 1, 3),
    maxRuntimeMinutes: Math.max(1, Math.min(1_440, Math.ceil(allowed))),
    maxCostUsd:
      d("ceiling") < scenario.shares.withCeiling ? round(Math.max(0.01, (price * minutes * d("cost")) / 60)) : null,
    volume: withVolume ? volumeOf(d("which")) : null,
    secret: d("secret") < scenario.shares.withSecret,
    cancelAfterMs: cancelled ? sometime(d("cancel-after")) : null,
    cancelBy: d("cancel-by") < 0.7 ? "job" : "instance",
    ...(d("followed") < scenario.shares.followed ? { followAfterMs: sometime(d("follow-after")) } : {})
  }
}

const volumeOf = (drawn: number): string => `volume-${between(drawn, 1, 3)}`

const mishaps = (
  { faults }: Scenario,
  draws: Chance,
  named: (kind: string, perHour: number) => ReadonlyArray<string>,
  at: (id: string) => number
): ReadonlyArray<PlanItem> => [
  ...named("kill", faults.server_killed).map((id): PlanItem => ({
    _tag: "Kill",
    id,
    at: at(id),
    afterSteps: between(draws.draw(`${id}/steps`), 0, 400),
    // Shorter and longer than a lease.
    downMs: Math.round(200 * 300 ** draws.draw(`${id}/down`))
  })),
  ...named("replica", faults.replica_joins).map((id): PlanItem => ({
    _tag: "Replica",
    id,
    at: at(id),
    forMs: between(draws.draw(`${id}/for`), 1_000, 600_000),
    killed: draws.draw(`${id}/killed`) < 0.5
  })),
  ...named("jump", faults.clock_jumps).map((id): PlanItem => ({
    _tag: "ClockJump",
    id,
    at: at(id),
    byMs: between(draws.draw(`${id}/by`), -120_000, 120_000)
  }))
]

const round = (usd: number): number => Math.round(usd * 100) / 100

/** What a poor or thrifty workspace has: about what its jobs will want, more or less. */
const partOf = (scenario: Scenario, drawn: number): number => {
  const wanted = (scenario.jobsPerHour * scenario.hours * averageUsd(scenario)) / scenario.workspaces
  return Math.min(LARGE_USD, round(Math.max(0.5, wanted * (0.4 + 1.2 * drawn))))
}

/** About what a job costs. */
const averageUsd = ({ jobMinutes: [low, high] }: Scenario): number => {
  const minutes = high === low ? low : (high - low) / Math.log(high / low)
  const price =
    defaultWorld.gpuTypes.reduce((sum, type) => sum + type.priceUsdPerGpuHour, 0) / defaultWorld.gpuTypes.length
  return (minutes / 60) * price * 1.3
}
