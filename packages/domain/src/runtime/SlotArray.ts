/**
 * A set of members that come and go often, in the slots of an array.
 *
 * A `Map` or `Set` must not be used there: V8 allocates a new table as members come and go, and each table references
 * the next one. If one table has been moved to the old generation, all later tables, their members and everything that
 * these reference survive until the next full collection.
 */
export class SlotArray<A> {
  private readonly slots: Array<A | undefined> = []
  private readonly free: Array<number> = []

  /** Adds a member and returns its slot, which removes it. */
  add(member: A): number {
    const slot = this.free.pop() ?? this.slots.length
    this.slots[slot] = member
    return slot
  }

  /**
   * Removes the member of a slot. Must be called once for each member, because a slot that is freed twice would be used
   * twice.
   */
  remove(slot: number): void {
    this.slots[slot] = undefined
    this.free.push(slot)
  }

  all(): Array<A> {
    return this.slots.filter((member) => member !== undefined)
  }
}
