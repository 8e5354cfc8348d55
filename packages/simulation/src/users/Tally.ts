/** What users asked of models and what came of it: counted for the report, remembered to be held against the books. */

export const REQUEST_KINDS = [
  "chats",
  "tools",
  "responses",
  "embeddings",
  "images",
  "speech",
  "transcriptions",
  "videos"
] as const
export type RequestKind = (typeof REQUEST_KINDS)[number]

export interface RequestCount {
  readonly answered: number
  readonly failed: number
  /** Whose caller went away: hung up, or never looked again. */
  readonly abandoned: number
  /** Why they failed, by the names of errors. */
  readonly reasons: Readonly<Record<string, number>>
}

/** One way in which a question was answered: what was said, as its caller saw it, and what it cost, nano-USD. */
export interface Said {
  readonly text: string
  readonly cost: bigint
}

export interface Twins {
  readonly id: string
  readonly streamed: Said
  readonly buffered: Said
}

export interface OrderedVideo {
  readonly item: string
  /** Its caller asked for its deletion. */
  deleted: boolean
}

type Counting = { -readonly [K in keyof Omit<RequestCount, "reasons">]: number } & {
  readonly reasons: Record<string, number>
}

export class Tally {
  /** What answers said that they cost, nano-USD, by the id of the request. */
  readonly costs = new Map<string, bigint>()
  /** Requests of which nothing was delivered before they failed. */
  readonly free: Array<string> = []
  readonly twins: Array<Twins> = []
  /** Logs that were followed to their end, and what was wrong with what their followers were told. */
  followed = 0
  readonly misled: Array<string> = []
  /** Orders that were taken, by the id of the video. */
  readonly videos = new Map<string, OrderedVideo>()
  private readonly counting = new Map<RequestKind, Counting>()

  get counts(): Readonly<Record<RequestKind, RequestCount>> {
    return Object.fromEntries(REQUEST_KINDS.map((kind) => [kind, this.of(kind)])) as Record<RequestKind, RequestCount>
  }

  /** How often two answers were held against each other. */
  get compared() {
    return { twins: this.twins.length, followed: this.followed }
  }

  count(kind: RequestKind, end: "answered" | "failed" | "abandoned", reason?: string): void {
    const counting = this.of(kind)
    counting[end]++
    if (reason !== undefined) counting.reasons[reason] = (counting.reasons[reason] ?? 0) + 1
    this.counting.set(kind, counting)
  }

  private of(kind: RequestKind): Counting {
    return this.counting.get(kind) ?? { answered: 0, failed: 0, abandoned: 0, reasons: {} }
  }
}
