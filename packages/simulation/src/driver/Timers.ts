/**
 * What is to happen at which virtual moment: a binary heap of entries by time, then by registration. A cancelled entry
 * stays until its time comes and is then skipped.
 */
export interface Timer {
  readonly at: number
  readonly order: number
  /** Undefined: cancelled. */
  fire: (() => void) | undefined
  /** False once who set it is dead. */
  readonly alive: () => boolean
}

export class Timers {
  private readonly heap: Array<Timer> = []
  private lastOrder = 0

  add(at: number, fire: () => void, alive: () => boolean): Timer {
    const timer: Timer = { at, order: ++this.lastOrder, fire, alive }
    const heap = this.heap
    heap.push(timer)
    for (let i = heap.length - 1; i > 0;) {
      const parent = (i - 1) >> 1
      if (!before(heap[i]!, heap[parent]!)) break
      swap(heap, i, parent)
      i = parent
    }
    return timer
  }

  /** Takes the earliest that still counts. */
  take(): Timer | undefined {
    for (let timer = this.pop(); timer !== undefined; timer = this.pop()) {
      if (timer.fire !== undefined && timer.alive()) return timer
    }
    return undefined
  }

  /** When the earliest that still counts is due. */
  next(): number {
    for (let timer = this.heap[0]; timer !== undefined; timer = this.heap[0]) {
      if (timer.fire !== undefined && timer.alive()) return timer.at
      this.pop()
    }
    return Number.POSITIVE_INFINITY
  }

  private pop(): Timer | undefined {
    const heap = this.heap
    const first = heap[0]
    const last = heap.pop()
    if (first === undefined || last === undefined || heap.length === 0) return first
    heap[0] = last
    for (let i = 0; ;) {
      let least = 2 * i + 1
      if (least >= heap.length) break
      if (least + 1 < heap.length && before(heap[least + 1]!, heap[least]!)) least++
      if (!before(heap[least]!, heap[i]!)) break
      swap(heap, i, least)
      i = least
    }
    return first
  }
}

const before = (a: Timer, b: Timer) => a.at < b.at || (a.at === b.at && a.order < b.order)

const swap = (heap: Array<Timer>, i: number, j: number) => {
  const kept = heap[i]!
  heap[i] = heap[j]!
  heap[j] = kept
}
