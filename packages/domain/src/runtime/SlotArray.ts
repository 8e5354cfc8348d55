/**
 * Members that come and go by the thousand. V8 gives a `Map` or `Set` another table as its members come and go, and each table
 * holds on to the next: once one of them is among what is old, all that passes later outlives its time with it, the members and
 * whatever they hold, until the whole heap is gone through. So the places here are those of an array.
 */
export class SlotArray<A> {
  private readonly places: Array<A | undefined> = []
  private readonly free: Array<number> = []

  /** Its place, by which it leaves. */
  add(member: A): number {
    const place = this.free.pop() ?? this.places.length
    this.places[place] = member
    return place
  }

  /** Once for each member. */
  remove(place: number): void {
    this.places[place] = undefined
    this.free.push(place)
  }

  all(): Array<A> {
    return this.places.filter((member) => member !== undefined)
  }
}
