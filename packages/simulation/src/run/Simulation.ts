/**
 * One run of a scenario: the real service in virtual time against the simulated world, with its faults, from a seed. The
 * same scenario gives the same history on any machine.
 *
 * The run ends when all that users began has ended, or when an invariant breaks.
 */
import { Effect, Exit, Scope } from "effect"
import type { PgClient } from "@effect/sql-pg"
import type { SharedDatabase } from "../database/SharedDatabase.ts"
import { chance } from "@sluice/machine-shell/Chance"
import { Driver } from "../driver/Driver.ts"
import { virtualGlobals } from "../driver/Globals.ts"
import { History } from "../driver/History.ts"
import { Process } from "../driver/Process.ts"
import type { Fault, AppliedFault } from "@sluice/simulator/faults/Fault"
import type { PlanItem } from "../plan/Plan.ts"
import { planOf } from "../plan/PlanOf.ts"
import type { Outcome, Violation } from "../report/Outcome.ts"
import type { Scenario } from "../scenario/Scenario.ts"
import { SECRETIVE } from "../users/Submissions.ts"
import { setUpTenants } from "../users/TenantSetup.ts"
import { Users } from "../users/Users.ts"
import { Fleet } from "./Fleet.ts"
import { Inspector } from "./Inspector.ts"
import { alive, jobBars, machineRows, moneyPoint } from "./OutcomeStore.ts"
import type { RunOptions } from "./RunOptions.ts"
import { surroundings, type World } from "./Surroundings.ts"
import { EPOCH, HOUR, LOOK_MS, RUN_OUT_MS, SWEPT_MS, TIDY_MS, MAX_SKEW_MS } from "./Times.ts"

export const simulate = async (
  database: SharedDatabase,
  scenario: Scenario,
  options: RunOptions = {}
): Promise<Outcome> => {
  const wall = performance.now()
  const scope = Scope.makeUnsafe()
  await Effect.runPromise(database.reset)
  if (options.planted?.before !== undefined) await database.change(options.planted.before)
  const outside = await Effect.runPromise(Scope.provide(database.outside, scope))
  const driver = new Driver()
  const { restore, within } = virtualGlobals(driver, {
    seed: scenario.seed,
    epoch: EPOCH,
    isReal: database.isRunning,
    asReal: database.within
  })
  try {
    const play = () => new Run(database, outside, scenario, driver, options).play()
    return { ...(await within(play)), wallMs: performance.now() - wall }
  } finally {
    restore()
    await Effect.runPromise(Scope.close(scope, Exit.void))
    if (options.planted?.after !== undefined) {
      await Effect.runPromise(database.reset)
      await database.change(options.planted.after)
    }
  }
}

class Run {
  private readonly history: History
  private readonly strikes: Array<AppliedFault> = []
  private readonly money: Array<Awaited<ReturnType<typeof moneyPoint>>> = []
  private readonly users: Users
  private readonly fleet: Fleet
  private readonly client: Process
  private readonly inspector: Inspector
  private readonly around: World
  private readonly database: SharedDatabase
  private readonly scenario: Scenario
  private readonly driver: Driver
  private readonly options: RunOptions
  private readonly plan: ReturnType<typeof planOf>
  private readonly endOfPlan: number
  private nextMoney = 0
  private nextLook = 0
  private nextCheck = 0
  private nextTidy = HOUR
  private finishedAt: number | undefined
  private violation: Violation | null = null

  constructor(
    database: SharedDatabase,
    outside: PgClient.PgClient,
    scenario: Scenario,
    driver: Driver,
    options: RunOptions
  ) {
    this.database = database
    this.scenario = scenario
    this.driver = driver
    this.options = options
    this.history = new History(driver, SECRETIVE)
    const noise = chance(scenario.seed, scenario.flat)
    this.plan = scenario.plan ?? planOf(scenario)
    this.endOfPlan = this.plan.items.reduce((last, { at }) => Math.max(last, at), scenario.hours * HOUR)
    const struck = (strike: AppliedFault) => {
      this.strikes.push(strike)
      this.history.record(`fault ${strike.fault} on ${strike.subject}`)
    }
    this.client = new Process(driver, { name: "users", seed: scenario.seed, epoch: EPOCH })
    this.around = surroundings({
      driver,
      history: this.history,
      database,
      scenario,
      noise,
      struck,
      planted: options.planted
    })
    this.fleet = new Fleet(this.around, noise, EPOCH, scenario.faults.clock_jumps > 0 ? MAX_SKEW_MS : 0)
    this.users = new Users({ chance: noise, history: this.history, server: this.fleet.pick })
    this.inspector = new Inspector({
      outside,
      users: this.users,
      fleet: this.fleet,
      history: this.history,
      floods: this.around.floods,
      scenario,
      now: () => EPOCH + Math.floor(driver.now),
      struck: (fault, subject) => this.strikes.some((one) => one.fault === fault && one.subject === subject)
    })
  }

  async play(): Promise<Omit<Outcome, "wallMs">> {
    this.fleet.start("main")
    this.fork(
      Effect.map(setUpTenants(this.users, this.plan.tenants), (settled) => {
        if (settled) this.schedule()
      })
    )
    const stop = await this.driver.run(
      () => this.quiet(),
      this.endOfPlan + RUN_OUT_MS + TIDY_MS * this.scenario.pollSeconds
    )
    if (this.violation === null) {
      const found = await this.inspector.atEnd(stop === "Done", await jobBars(this.database, EPOCH))
      if (found !== undefined) this.violation = this.violated(found)
    }
    this.fleet.closeAll()
    return this.outcome()
  }

  /** Items count from the start of the run; tenants settle in before. */
  private schedule(): void {
    const start = this.driver.now
    for (const item of this.plan.items) this.driver.at(start + item.at, () => this.begin(item))
  }

  private begin(item: PlanItem): void {
    switch (item._tag) {
      case "Kill":
        this.strike("server_killed", item.id)
        return this.fleet.kill(item)
      case "Replica":
        this.strike("replica_joins", item.id)
        return this.fleet.join(item)
      case "ClockJump":
        this.strike("clock_jumps", item.id)
        return this.fleet.jump(item.byMs)
      default:
        return this.fork(this.users.play(item))
    }
  }

  private strike(fault: Fault, subject: string): void {
    this.strikes.push({ at: this.driver.now, fault, subject })
    this.history.record(`fault ${fault}: ${subject}`)
  }

  private fork(effect: Effect.Effect<unknown, unknown>): void {
    const fiber = Effect.runForkWith(this.client.context)(effect)
    fiber.addObserver((exit) => {
      if (Exit.isFailure(exit)) this.users.unanswered.push(String(exit.cause))
    })
  }

  /** Called whenever nothing can run at this moment. True ends the run. */
  private async quiet(): Promise<boolean> {
    const { now } = this.driver
    if (this.database.inTransaction() || now < Math.min(this.nextCheck, this.nextLook)) return false
    if (now >= this.nextCheck && (await this.check())) return true
    // When the run ends does not depend on how often it is looked at.
    if (now < this.nextLook) return false
    this.nextLook = now + LOOK_MS
    if (now >= this.nextMoney) {
      this.money.push(await moneyPoint(this.database, now))
      this.nextMoney = now + Math.max(HOUR / 4, this.endOfPlan / 500)
      this.options.progress?.({ now, until: this.endOfPlan, jobs: this.users.accepted.size })
    }
    return this.hasRunOut()
  }

  private async check(): Promise<boolean> {
    const { driver, scenario } = this
    this.nextCheck = driver.now + scenario.lookSeconds * 1_000
    if (driver.now >= this.nextTidy) {
      this.nextTidy = driver.now + HOUR
      await this.database.tidy()
    }
    const found = await this.inspector.check(this.database.changes)
    if (found !== undefined) this.violation = this.violated(found)
    return found !== undefined
  }

  private async hasRunOut(): Promise<boolean> {
    const { now } = this.driver
    if (now < this.endOfPlan) return false
    const left = this.users.busy + (await alive(this.database))
    const swept = SWEPT_MS * this.scenario.pollSeconds
    if (this.finishedAt !== undefined) return now >= this.finishedAt + swept && left === 0
    if (left > 0) return false
    this.finishedAt = now
    return false
  }

  private violated(found: { readonly invariant: string; readonly found: ReadonlyArray<string> }): Violation {
    return { ...found, at: this.driver.now, step: this.driver.steps }
  }

  private async outcome(): Promise<Omit<Outcome, "wallMs">> {
    const jobs = await jobBars(this.database, EPOCH)
    for (const job of jobs) {
      this.history.record(`${job.id} ${job.status} ${job.reason} ${job.startedAt} ${job.endedAt} ${job.costUsd}`)
    }
    const struck: Partial<Record<Fault, number>> = {}
    for (const { fault } of this.strikes) struck[fault] = (struck[fault] ?? 0) + 1
    return {
      scenario: this.scenario,
      virtualMs: this.driver.now,
      steps: this.driver.steps,
      statements: this.around.statements(),
      boots: this.fleet.boots,
      jobs,
      machines: await machineRows(this.database, EPOCH),
      money: [...this.money, await moneyPoint(this.database, this.driver.now)],
      requests: this.users.tally.counts,
      ...this.users.tally.compared,
      refused: this.users.refused,
      strikes: this.strikes,
      struck,
      downs: this.fleet.downs,
      checks: this.inspector.checks,
      invariants: this.inspector.names,
      violation: this.violation,
      lastEvents: this.history.last,
      history: this.history.digest()
    }
  }
}
