/**
 * What is counted, as plain numbers: who counts holds on to its `Tally` or `Histogram` and adds to it; nothing is looked up
 * then. A family is all series of one name, told apart by labels, and its labels have few values: models, routes, states,
 * never a workspace, a key or a job. Beyond MAX_SERIES a new one counts for nobody.
 */

/** Series of a family at most. */
export const MAX_SERIES = 10_000

/** Upper bounds of durations, in seconds: from an answer out of memory to a video. */
export const SECONDS: ReadonlyArray<number> = [
  0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_200
]

/** A number that grows (a counter) or is what it is just now (a gauge). */
export class Tally {
  value = 0

  add(by = 1): void {
    this.value += by
  }
}

/** How many values lay within each bound, and what all came to. */
export class Histogram {
  readonly bounds: ReadonlyArray<number>
  /** By the first bound that a value does not pass; the last: those beyond all. */
  readonly counts: Array<number>
  sum = 0

  constructor(bounds: ReadonlyArray<number>) {
    this.bounds = bounds
    this.counts = Array.from({ length: bounds.length + 1 }, () => 0)
  }

  record(value: number): void {
    let at = 0
    while (at < this.bounds.length && value > this.bounds[at]!) at++
    this.counts[at]! += 1
    this.sum += value
  }
}

export interface Series<S> {
  /** In the order of the family's labels. */
  readonly values: ReadonlyArray<string>
  readonly content: S
}

/** What a family is called and means. */
export interface Description {
  readonly name: string
  readonly kind: "counter" | "gauge" | "histogram"
  /** One sentence, with the unit where there is one. */
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
  private readonly listed: boolean

  /** `listed`: false, and it keeps nothing: what it gives counts for nobody. */
  constructor(description: Description & { readonly labels: L }, make: () => S, listed: boolean) {
    this.name = description.name
    this.kind = description.kind
    this.help = description.help
    this.labels = description.labels
    this.make = make
    this.listed = listed
  }

  /** The series of these values, the same one each time. To be kept by who counts often. */
  of(...values: { readonly [I in keyof L]: string }): S {
    const key = JSON.stringify(values)
    const known = this.series.get(key)
    if (known !== undefined) return known.content
    const content = this.make()
    if (this.listed && this.series.size < MAX_SERIES) this.series.set(key, { values, content })
    return content
  }

  /** Forgets all series: what is not known just now is left out. */
  clear(): void {
    this.series.clear()
  }

  get all(): Iterable<Series<S>> {
    return this.series.values()
  }
}

/** How families are written down; `listed` as in `Family`. */
export const families = (listed: boolean) => {
  const tallies =
    (kind: "counter" | "gauge") =>
    <const L extends ReadonlyArray<string>>(name: string, labels: L, help: string): Family<Tally, L> =>
      new Family({ name, kind, help, labels }, () => new Tally(), listed)
  return {
    counter: tallies("counter"),
    gauge: tallies("gauge"),
    seconds: <const L extends ReadonlyArray<string>>(name: string, labels: L, help: string): Family<Histogram, L> =>
      new Family({ name, kind: "histogram", help, labels }, () => new Histogram(SECONDS), listed)
  }
}
