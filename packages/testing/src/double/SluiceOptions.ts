/** The options of `startSluice` (docs/testing.md). */
export interface SluiceOptions {
  /** What ids, words and the world's chance follow from. Default 1. */
  readonly seed?: number
  /** `virtual` (the default): time moves with `advance`, and by itself where an answer needs it. `real`: as everywhere. */
  readonly clock?: "virtual" | "real"
  /** When virtual time begins. Default 2027-01-15. */
  readonly now?: Date
  /** Whether models take their time to answer. Default false: they answer at once. */
  readonly latency?: boolean
  /** Bash scripts that machines have as commands of these names, such as `python`. Default none. */
  readonly programs?: Readonly<Record<string, string>>
  /** Default: any that is free. */
  readonly port?: number
}
