/**
 * The servers of a run: started, killed, started again, joined by a second replica for a while. A user asks one that is
 * up; while there is none, the connection is refused.
 */
import { between, type Chance } from "@sluice/machine-shell/Chance"
import { Process } from "../driver/Process.ts"
import type { PlanItem } from "../plan/Plan.ts"
import { SimulatedServer, type Surroundings } from "../server/SimulatedServer.ts"

export interface Down {
  readonly from: number
  readonly to: number
  readonly replica: string
}

/** A start that fails (the database went away in the middle) is tried again after this, as a supervisor does. */
const RESTART_MS = 2_000

export class Fleet {
  readonly downs: Array<Down> = []
  boots = 0
  /** How long servers were down, and by how much clocks jumped, in all. */
  downMs = 0
  jumpedMs = 0
  private readonly servers: Array<SimulatedServer> = []
  private readonly around: Surroundings
  private readonly chance: Chance
  private readonly epoch: number
  private clockOff = 0
  private readonly skews = new WeakMap<Process, number>()

  /** By how much the clock of a replica that joins may differ from the others. */
  private readonly mostSkewMs: number

  constructor(around: Surroundings, chance: Chance, epoch: number, mostSkewMs: number) {
    this.mostSkewMs = mostSkewMs
    this.around = around
    this.chance = chance
    this.epoch = epoch
  }

  /** One that answers, by the name of what is asked. */
  readonly pick = (name: string): SimulatedServer | undefined => {
    const up = this.servers.filter((server) => server.ready)
    return up[between(this.chance.draw(`server/${name}`), 0, up.length - 1)]
  }

  /** Starts a server; one that dies by itself is started again. */
  start(replica: string, supervised = true): SimulatedServer {
    const { driver, history } = this.around
    const process = new Process(driver, {
      name: `${replica}.${++this.boots}`,
      seed: this.chance.seed,
      epoch: this.epoch
    })
    process.clockOff = this.clockOff
    const server = new SimulatedServer(this.around, process)
    this.servers.push(server)
    history.record(`${process.name} starts`)
    process.whenKilled(() => {
      this.servers.splice(this.servers.indexOf(server), 1)
      history.record(`${process.name} is gone`)
    })
    if (supervised) this.supervise(replica, process, RESTART_MS)
    return server
  }

  kill(item: Extract<PlanItem, { readonly _tag: "Kill" }>): void {
    const server = this.servers[0]
    if (server === undefined) return
    server.process.killAfter(item.afterSteps)
    this.nextDown = item.downMs
  }

  join(item: Extract<PlanItem, { readonly _tag: "Replica" }>): void {
    const { driver } = this.around
    const server = this.start(item.id, false)
    this.skew(server.process, between(this.chance.draw(`skew/${item.id}`), -this.mostSkewMs, this.mostSkewMs))
    driver.after(item.forMs, () => {
      if (item.killed) return server.process.kill()
      server.close()
      // What does not end in good order is ended.
      driver.after(GRACE_MS, () => server.process.kill())
    })
  }

  /** All wall clocks jump; the world's time does not. */
  jump(byMs: number): void {
    this.clockOff += byMs
    this.jumpedMs += Math.abs(byMs)
    for (const { process } of this.servers) process.clockOff = this.clockOff + (this.skews.get(process) ?? 0)
  }

  /** One wall clock is off. */
  private skew(process: Process, byMs: number): void {
    process.clockOff += byMs
    this.skews.set(process, byMs)
    this.jumpedMs += Math.abs(byMs)
  }

  closeAll(): void {
    this.ending = true
    for (const server of this.servers.slice()) server.process.kill()
  }

  private nextDown: number | undefined
  private ending = false

  private supervise(replica: string, process: Process, restartMs: number): void {
    const { driver } = this.around
    process.whenKilled(() => {
      if (this.ending) return
      const downMs = this.nextDown ?? restartMs
      this.nextDown = undefined
      this.downMs += downMs + LEASE_MS
      this.downs.push({ from: driver.now, to: driver.now + downMs, replica })
      driver.after(downMs, () => {
        if (!this.ending) this.start(replica)
      })
    })
  }
}

const GRACE_MS = 30_000
/** What a dead server claimed is free after this. */
const LEASE_MS = 6_000
