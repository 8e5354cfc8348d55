/**
 * Makes a failing scenario smaller while the same still breaks: noise off, kinds of faults off, items of the plan away by
 * halves, quarters and one by one, then unused workspaces, then halved numbers. Any smaller one that fails is kept.
 */
import type { Fault } from "@sluice/simulator/faults/Fault"
import type { Plan, PlanItem } from "../plan/Plan.ts"
import type { Scenario } from "../scenario/Scenario.ts"

/** A scenario with its plan written out. */
export type Planned = Scenario & { readonly plan: Plan }

export interface Shrinking {
  /** Whether the same invariant breaks. */
  readonly fails: (scenario: Planned) => Promise<boolean>
  /** Runs at most. */
  readonly budget: number
  /** Hears of the smallest so far, after each run. */
  readonly progress?: (runs: number, scenario: Planned) => void
}

export interface Shrunk {
  readonly scenario: Planned
  readonly runs: number
}

export const shrink = async (failing: Planned, { budget, fails, progress }: Shrinking): Promise<Shrunk> => {
  let best = failing
  let runs = 0
  /** Keeps the candidate if it fails too; a spent budget keeps nothing more. */
  const attempt = async (candidate: Planned): Promise<boolean> => {
    if (runs >= budget) return false
    runs++
    const failed = await fails(candidate)
    if (failed) best = candidate
    progress?.(runs, best)
    return failed
  }
  if (!best.flat) await attempt({ ...best, flat: true })
  for (const fault of faultsOf(best)) await attempt({ ...best, faults: { ...best.faults, [fault]: 0 } })
  const withItems = (items: ReadonlyArray<PlanItem>): Planned => ({ ...best, plan: { ...best.plan, items } })
  await fewest(
    () => best.plan.items,
    (items) => attempt(withItems(items))
  )
  const used = new Set(best.plan.items.flatMap((item) => ("workspace" in item ? [item.workspace] : [])))
  const tenants = best.plan.tenants.filter((tenant) => used.has(tenant.name))
  if (tenants.length < best.plan.tenants.length) await attempt({ ...best, plan: { ...best.plan, tenants } })
  for (let i = 0; i < best.plan.items.length; i++) {
    // Each from what the one before left.
    for (const lessen of LESSER) {
      const item = best.plan.items[i]!
      const smaller = lessen(item)
      if (JSON.stringify(smaller) !== JSON.stringify(item)) await attempt(withItems(best.plan.items.with(i, smaller)))
    }
  }
  return { scenario: best, runs }
}

/** Which kinds of faults a scenario has. */
export const faultsOf = (scenario: Scenario): ReadonlyArray<Fault> =>
  (Object.keys(scenario.faults) as ReadonlyArray<Fault>).filter((fault) => scenario.faults[fault] > 0)

/** Delta debugging: removes ever smaller parts of the list until no single item can go. */
const fewest = async (
  now: () => ReadonlyArray<PlanItem>,
  attempt: (items: ReadonlyArray<PlanItem>) => Promise<boolean>
): Promise<void> => {
  let size = Math.ceil(now().length / 2)
  while (size >= 1) {
    let removed = false
    for (let from = 0; from < now().length;) {
      const items = now()
      if (await attempt([...items.slice(0, from), ...items.slice(from + size)])) removed = true
      else from += size
    }
    if (size === 1 && !removed) return
    size = size === 1 ? 1 : Math.ceil(size / 2)
  }
}

/** Ways to make an item smaller: a number halved, something left out. */
const LESSER: ReadonlyArray<(item: PlanItem) => PlanItem> = [
  (item) => ({ ...item, at: Math.floor(item.at / 2) }),
  (item) => (item._tag === "Submit" ? { ...item, runMs: Math.floor(item.runMs / 2) } : item),
  (item) => (item._tag === "Submit" ? { ...item, volume: null } : item),
  (item) => (item._tag === "Submit" ? { ...item, secret: false } : item),
  (item) => (item._tag === "Submit" ? { ...item, maxCostUsd: null } : item),
  (item) => (item._tag === "Submit" ? { ...item, cancelAfterMs: null } : item),
  (item) => (item._tag === "Submit" ? { ...item, followAfterMs: null } : item),
  (item) => (item._tag === "Chat" || item._tag === "Ask" ? { ...item, hangUpAfterMs: null } : item),
  (item) => (item._tag === "Chat" ? { ...item, tools: false } : item),
  (item) => (item._tag === "Chat" ? { ...item, asResponse: false } : item),
  (item) => (item._tag === "Chat" ? { ...item, twin: false } : item),
  (item) => (item._tag === "Chat" ? { ...item, crowd: 0 } : item),
  (item) => (item._tag === "Ask" ? { ...item, words: 1, count: 1 } : item),
  (item) => (item._tag === "Film" ? { ...item, deletes: "never" } : item),
  (item) => (item._tag === "Film" ? { ...item, downloads: 0 } : item),
  (item) => (item._tag === "Film" ? { ...item, lookEveryMs: null } : item)
]
