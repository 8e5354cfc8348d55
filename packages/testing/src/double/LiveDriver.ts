/**
 * Virtual time in the middle of a real event loop: what is ready runs at the loop's next turn, and time stands still until
 * somebody advances it, or waits for an answer that only time can bring.
 */
import { Effect } from "effect"
import type { IncomingMessage, ServerResponse } from "node:http"
import { Driver } from "@sluice/simulation/driver/Driver"

export class LiveDriver extends Driver {
  private pumping = false
  private advancing = false
  /** Work of this machine that is under way, on which time waits. */
  private working = 0
  /** Answers that only time can bring. */
  private awaited = 0
  /** Until when something is tried again for which a caller may have to wait. */
  private retriedBy = 0
  private readonly callers = new Map<ServerResponse, IncomingMessage>()
  private line: Promise<void> = Promise.resolve()

  override enqueue(task: () => void): void {
    super.enqueue(task)
    this.pumpSoon()
  }

  /** Moves time by so much, after those who asked before. Returns when nothing more can happen at that moment. */
  advance(ms: number): Promise<void> {
    const moved = this.line.then(() => this.moveTo(this.now + ms))
    this.line = moved.catch(() => {})
    return moved
  }

  /** Time does not move while this runs: it takes the machine's time, not the world's. */
  during<A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    return Effect.acquireUseRelease(
      Effect.sync(() => this.working++),
      () => effect,
      () => Effect.sync(() => this.working--)
    )
  }

  /** Time moves by itself, from timer to timer, as long as this is not undone. */
  awaiting(): () => void {
    this.awaited++
    this.pumpSoon()
    return () => this.awaited--
  }

  /** For so long time moves by itself while a caller waits, whoever it was whose statement failed: they share statements. */
  retrying(ms: number): void {
    this.retriedBy = this.now + ms
    this.pumpSoon()
  }

  /** A caller has come. */
  readonly heard = (source: IncomingMessage, response: ServerResponse): void => {
    this.callers.set(response, source)
    response.on("close", () => this.callers.delete(response))
    source.on("end", () => this.pumpSoon())
    this.pumpSoon()
  }

  /** Whether an answer is due that only time can bring. What a caller still sends, or is sent, takes no time of the world. */
  private isAwaited(): boolean {
    if (this.awaited > 0) return true
    if (this.timers.next() > this.retriedBy) return false
    for (const [response, source] of this.callers) if (source.complete && !response.writableEnded) return true
    return false
  }

  private pumpSoon(): void {
    if (this.pumping || this.advancing) return
    this.pumping = true
    this.realTurn(() => this.pump())
  }

  private pump(): void {
    this.pumping = false
    if (this.advancing) return
    if (this.ready.length > 0) {
      this.drain()
      if (this.isAwaited()) this.pumpSoon()
      return
    }
    if (!this.isAwaited()) return
    if (this.working === 0 && this.timers.next() !== Number.POSITIVE_INFINITY) this.step()
    this.pumpSoon()
  }

  private async moveTo(until: number): Promise<void> {
    this.advancing = true
    try {
      for (;;) {
        await this.settle()
        if (this.working > 0) await rest()
        else if (this.timers.next() > until) break
        else this.step()
      }
      this.now = until
    } finally {
      this.advancing = false
      if (this.ready.length > 0) this.pumpSoon()
    }
  }
}

/** A moment of real time. */
const rest = () => Effect.runPromise(Effect.sleep(1))
