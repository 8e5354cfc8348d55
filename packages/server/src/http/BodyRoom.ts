/**
 * How much of bodies that are still coming is held at a time, all connections together. When it is full, the body that has
 * been coming for longest gives way: one that is sent at the pace of a network is never that one, and who sends halves and
 * waits keeps nobody else out.
 */
import { Context } from "effect"

/** A dozen of the largest bodies. */
const ROOM_BYTES = 256 * 1024 * 1024

export interface Guest {
  /** What is held of it. */
  bytes: number
  /** It has to go: nothing of it is held any more. */
  readonly crowdedOut: () => void
}

export class Rooms {
  private readonly guests = new Set<Guest>()
  private readonly most: number
  private held = 0

  constructor(most = ROOM_BYTES) {
    this.most = most
  }

  /** So much more of it came. */
  grow(guest: Guest, bytes: number): void {
    this.guests.add(guest)
    guest.bytes += bytes
    this.held += bytes
    for (const oldest of this.guests) {
      if (this.held <= this.most) return
      this.leave(oldest)
      oldest.crowdedOut()
    }
  }

  /** It is whole, or nobody waits for it. */
  leave(guest: Guest): void {
    if (!this.guests.delete(guest)) return
    this.held -= guest.bytes
    guest.bytes = 0
  }

  get size(): { readonly guests: number; readonly bytes: number } {
    return { guests: this.guests.size, bytes: this.held }
  }
}

export class BodyRoom extends Context.Service<BodyRoom, Rooms>()("@sluice/server/http/BodyRoom") {}
