/**
 * Bounds the bytes of request bodies held at one time by all requests together, both arriving and complete. When the
 * budget is full, the body that has been arriving longest is evicted: a slow sender does not keep others out, and a
 * body sent at the speed of a network is never the oldest. One key gets at most half of the budget.
 */
import { Clock, Context, Effect, Layer } from "effect"
import { getHeapStatistics } from "node:v8"
import { inWallTime } from "../clock/WallTime.ts"
import { spoolBytes } from "./Spool.ts"

/**
 * Part of the heap for bodies. Handling a body takes about three times its size: as text, as values, and as text for an
 * upstream.
 */
const PART_OF_HEAP = 8
/** Three of the largest bodies, so that half of the budget, the share of one key, holds one. */
const MIN_BYTES = 64 * 1024 * 1024
const LOG_EVERY_MS = 60_000

const defaultMaxBytes = () => Math.max(MIN_BYTES, getHeapStatistics().heap_size_limit / PART_OF_HEAP)

export interface BodyReservation {
  /** The key that sent the body, as far as it is known before the body is read. */
  readonly owner: string
  /** Bytes held for this body. */
  bytes: number
  /** Called on eviction: the body's bytes must be dropped. */
  readonly onEvicted: () => void
}

export class ByteBudget {
  /** Reservations that can be evicted, the oldest first. */
  private readonly arriving = new Set<BodyReservation>()
  private readonly owners = new Map<string, number>()
  private readonly maxBytes: number
  private held = 0
  private loggedAtMs = Number.NEGATIVE_INFINITY

  constructor(maxBytes = defaultMaxBytes()) {
    this.maxBytes = maxBytes
  }

  /** Adds `bytes` to an arriving body, and evicts others, or this one, until the budget holds. */
  grow(reservation: BodyReservation, bytes: number): void {
    this.arriving.add(reservation)
    this.take(reservation, bytes)
    const { owner } = reservation
    for (const oldest of this.arriving) {
      const isOwnerOverHalf = (this.owners.get(owner) ?? 0) > this.maxBytes / 2
      if (!isOwnerOverHalf && this.held <= this.maxBytes) return
      if (isOwnerOverHalf && oldest.owner !== owner) continue
      this.release(oldest)
      oldest.onEvicted()
    }
  }

  /** The body is complete: it can't be evicted any more, and stays until its request is answered. */
  complete(reservation: BodyReservation): void {
    this.arriving.delete(reservation)
  }

  /** Releases the bytes of a body whose request is answered or abandoned. */
  release(reservation: BodyReservation): void {
    this.arriving.delete(reservation)
    this.take(reservation, -reservation.bytes)
  }

  /**
   * Logs a problem that keeps bodies out even of an empty budget. At most once a minute, because every upload meets it.
   */
  logProblem(log: Effect.Effect<void>): Effect.Effect<void> {
    return Effect.flatMap(inWallTime(Clock.currentTimeMillis), (nowMs) => {
      if (nowMs - this.loggedAtMs < LOG_EVERY_MS) return Effect.void
      this.loggedAtMs = nowMs
      return log
    })
  }

  get size(): { readonly owners: number; readonly bytes: number } {
    return { owners: this.owners.size, bytes: this.held }
  }

  private take(reservation: BodyReservation, bytes: number): void {
    reservation.bytes += bytes
    this.held += bytes
    const ownerBytes = (this.owners.get(reservation.owner) ?? 0) + bytes
    if (ownerBytes === 0) this.owners.delete(reservation.owner)
    else this.owners.set(reservation.owner, ownerBytes)
  }
}

export class BodyMemoryBudget extends Context.Service<BodyMemoryBudget, ByteBudget>()(
  "@sluice/server/http/BodyMemoryBudget"
) {}

/**
 * Part of the free disk for files of forms. Files stay until their request is answered, and other programs use the disk
 * too.
 */
const PART_OF_DISK = 4

/** Bytes on the disk of files that arrive in forms. */
export class FileSpaceBudget extends Context.Service<FileSpaceBudget, ByteBudget>()("@sluice/server/http/FileRoom") {
  static readonly layer = Layer.effect(
    FileSpaceBudget,
    Effect.map(spoolBytes, (free) => new ByteBudget(Math.max(MIN_BYTES, free / PART_OF_DISK)))
  )
}
