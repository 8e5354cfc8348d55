/**
 * Counters and histograms as plain numbers. Code that counts keeps its `Tally` or `Histogram` and adds to it, without a
 * look-up. A family is all series of one metric name; labels distinguish the series. Labels must have few values
 * (models, routes, states), never a workspace, a key or a job. Above `MAX_SERIES` a new series is not listed.
 */

/** Maximum series of a family, which bounds memory and the size of a scrape. */
export const MAX_SERIES = 10_000

/** Upper bounds of durations (s): from an answer out of memory to a video. */
export const SECONDS: ReadonlyArray<number> = [
  0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_200
]

/** A counter, which only grows, or a gauge, which is a current value. */
export class Tally {
  value = 0

  add(by = 1): void {
    this.value += by
  }
}

/** The number of values within each bound, and the sum of all values. */
export class Histogram {
  readonly bounds: ReadonlyArray<number>
  /**
   * The count of values by the first bound that is not below the value; the last entry counts values above all bounds.
   */
  readonly counts: Array<number>
  sum = 0

  constructor(bounds: ReadonlyArray<number>) {
    this.bounds = bounds
    this.counts = Array.from({ length: bounds.length + 1 }, () => 0)
  }

  record(value: number): void {
    let index = 0
    while (index < this.bounds.length && value > this.bounds[index]!) index++
    this.counts[index]! += 1
    this.sum += value
  }
}

export interface Series<S> {
  /** The label values, in the order of the family's labels. */
  readonly values: ReadonlyArray<string>
  readonly content: S
}

/** The name and the meaning of a family. */
export interface Description {
  readonly name: string
  readonly kind: "counter" | "gauge" | "histogram"
  /** One sentence, with the unit if there is one. */
  readonly help: string
  readonly labels: ReadonlyArray<string>
}

export class Family<S, L extends ReadonlyArray<string> = ReadonlyArray<string>> implements Description {
  readonly name: string
  readonly kind: Description["kind"]
  readonly help: string
  readonly labels: L
  private readonly series = new Map<string, Series<S>>()
  private readonly make: () => S
  private readonly isListed: boolean

  /** `isListed` false: the family keeps no series, and its numbers are lost. */
  constructor(description: Description & { readonly labels: L }, make: () => S, isListed: boolean) {
    this.name = description.name
    this.kind = description.kind
    this.help = description.help
    this.labels = description.labels
    this.make = make
    this.isListed = isListed
  }

  /** Returns the series of these label values, the same one each time. Code that counts often should keep it. */
  of(...values: { readonly [I in keyof L]: string }): S {
    const key = JSON.stringify(values)
    const existing = this.series.get(key)
    if (existing !== undefined) return existing.content
    const content = this.make()
    if (this.isListed && this.series.size < MAX_SERIES) this.series.set(key, { values, content })
    return content
  }

  /** Drops all series, so that values that are not known any more are not listed. */
  clear(): void {
    this.series.clear()
  }

  get all(): Iterable<Series<S>> {
    return this.series.values()
  }
}

/** Makes the constructors of families. `isListed` as in `Family`. */
export const families = (isListed: boolean) => {
  const tallies =
    (kind: "counter" | "gauge") =>
    <const L extends ReadonlyArray<string>>(name: string, labels: L, help: string): Family<Tally, L> =>
      new Family({ name, kind, help, labels }, () => new Tally(), isListed)
  return {
    counter: tallies("counter"),
    gauge: tallies("gauge"),
    seconds: <const L extends ReadonlyArray<string>>(name: string, labels: L, help: string): Family<Histogram, L> =>
      new Family({ name, kind: "histogram", help, labels }, () => new Histogram(SECONDS), isListed)
  }
}
