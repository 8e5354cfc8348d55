/**
 * How much of bodies is held at a time, all requests together: of those that are still coming and of those that are being
 * answered. When it is full, the body that has been coming for longest gives way: one that is sent at the pace of a network
 * is never that one. So a slow sender keeps nobody else out, and one key gets half at most.
 */
import { Clock, Context, Effect, Layer } from "effect"
import { getHeapStatistics } from "node:v8"
import { inWallTime } from "../clock/WallTime.ts"
import { spoolBytes } from "./Spool.ts"

/** What answers one body takes some three times its size of the heap: as text, as values, and as text for an upstream. */
const PART_OF_HEAP = 8
/** Three of the largest bodies: a key that has half of it can send one. */
const MIN_BYTES = 64 * 1024 * 1024
const COMPLAIN_EVERY_MS = 60_000

const roomBytes = () => Math.max(MIN_BYTES, getHeapStatistics().heap_size_limit / PART_OF_HEAP)

export interface BodyReservation {
  /** Whose it is, as far as anybody knows before it is read. */
  readonly owner: string
  /** What is held of it. */
  bytes: number
  /** It has to go: nothing of it is held any more. */
  readonly evicted: () => void
}

export class ByteBudget {
  /** Those that can still go, the oldest first. */
  private readonly coming = new Set<BodyReservation>()
  private readonly owners = new Map<string, number>()
  private readonly most: number
  private held = 0
  private complainedAtMs = Number.NEGATIVE_INFINITY

  constructor(most = roomBytes()) {
    this.most = most
  }

  /** So much more of it came. */
  grow(guest: BodyReservation, bytes: number): void {
    this.coming.add(guest)
    this.take(guest, bytes)
    const { owner } = guest
    for (const one of this.coming) {
      const isOwners = (this.owners.get(owner) ?? 0) > this.most / 2
      if (!isOwners && this.held <= this.most) return
      if (isOwners && one.owner !== owner) continue
      this.leave(one)
      one.evicted()
    }
  }

  /** It is whole, and stays until it is answered. */
  settle(guest: BodyReservation): void {
    this.coming.delete(guest)
  }

  /** It is answered, or nobody waits for it. */
  leave(guest: BodyReservation): void {
    this.coming.delete(guest)
    this.take(guest, -guest.bytes)
  }

  /** Says what keeps everything out, however much room there is: once a minute, as many may come meanwhile. */
  complain(words: Effect.Effect<void>): Effect.Effect<void> {
    return Effect.flatMap(inWallTime(Clock.currentTimeMillis), (nowMs) => {
      if (nowMs - this.complainedAtMs < COMPLAIN_EVERY_MS) return Effect.void
      this.complainedAtMs = nowMs
      return words
    })
  }

  get size(): { readonly owners: number; readonly bytes: number } {
    return { owners: this.owners.size, bytes: this.held }
  }

  private take(guest: BodyReservation, bytes: number): void {
    guest.bytes += bytes
    this.held += bytes
    const owns = (this.owners.get(guest.owner) ?? 0) + bytes
    if (owns === 0) this.owners.delete(guest.owner)
    else this.owners.set(guest.owner, owns)
  }
}

export class BodyMemoryBudget extends Context.Service<BodyMemoryBudget, ByteBudget>()(
  "@sluice/server/http/BodyMemoryBudget"
) {}

/** Files lie on disk until they are answered, and what is free there is not ours alone. */
const PART_OF_DISK = 4

/** Of files that come in forms: bytes of the disk that they are spooled to. */
export class FileSpaceBudget extends Context.Service<FileSpaceBudget, ByteBudget>()("@sluice/server/http/FileRoom") {
  static readonly layer = Layer.effect(
    FileSpaceBudget,
    Effect.map(spoolBytes, (free) => new ByteBudget(Math.max(MIN_BYTES, free / PART_OF_DISK)))
  )
}
