/**
 * The simulated catalog: the models, their prices and their speed. A plain object, so that a scenario can set it.
 * `instant` is the same catalog without delays and with short answers, for benchmarks.
 */
import { DEFAULT_MAX_SECONDS } from "@sluice/domain/models/ModelEntry"
import type { SpeechModel, TranscriptionModel, VideoModel } from "@sluice/domain/models/MediaProvider"
import type { EmbeddingModel, ImageModel, Model } from "@sluice/domain/models/ModelProvider"

export interface Latency {
  /** Milliseconds until the first word. */
  readonly firstMs: number
  readonly tokensPerSecond: number
  /** The variation of each pause: 0.3 is plus or minus 30 %. */
  readonly jitter: number
}

export interface SimulatedModel extends Model {
  readonly latency: Latency
  /** Words of an answer that no limit cuts short: from, to. */
  readonly words: readonly [number, number]
}

export interface ModelWorld {
  readonly seed: number
  readonly latency: "paced" | "none"
  readonly models: ReadonlyArray<SimulatedModel>
  readonly embeddings: ReadonlyArray<EmbeddingModel>
  readonly images: ReadonlyArray<ImageModel>
  readonly speech: ReadonlyArray<SpeechModel>
  readonly transcription: ReadonlyArray<TranscriptionModel>
  readonly videos: ReadonlyArray<VideoModel>
}

const CREATED = 1_767_225_600 // 2026-01-01

const catalog: ReadonlyArray<SimulatedModel> = [
  {
    id: "sluice-small",
    created: CREATED,
    ownedBy: "sluice-simulator",
    contextLength: 32_768,
    maxOutputTokens: 4_096,
    vision: false,
    promptPrice: 150_000_000n,
    completionPrice: 600_000_000n,
    latency: { firstMs: 180, tokensPerSecond: 90, jitter: 0.3 },
    words: [25, 60]
  },
  {
    id: "sluice-large",
    created: CREATED,
    ownedBy: "sluice-simulator",
    contextLength: 131_072,
    maxOutputTokens: 16_384,
    vision: false,
    promptPrice: 2_500_000_000n,
    completionPrice: 10_000_000_000n,
    latency: { firstMs: 450, tokensPerSecond: 45, jitter: 0.35 },
    words: [60, 160]
  },
  {
    id: "sluice-vision",
    created: CREATED,
    ownedBy: "sluice-simulator",
    contextLength: 131_072,
    maxOutputTokens: 8_192,
    vision: true,
    promptPrice: 1_000_000_000n,
    completionPrice: 4_000_000_000n,
    latency: { firstMs: 600, tokensPerSecond: 55, jitter: 0.3 },
    words: [40, 100]
  },
  {
    id: "sluice-free",
    created: CREATED,
    ownedBy: "sluice-simulator",
    contextLength: 8_192,
    maxOutputTokens: 1_024,
    vision: false,
    promptPrice: 0n,
    completionPrice: 0n,
    latency: { firstMs: 300, tokensPerSecond: 30, jitter: 0.4 },
    words: [15, 40]
  }
]

const embeddings: ReadonlyArray<EmbeddingModel> = [
  {
    id: "sluice-embed-small",
    created: CREATED,
    ownedBy: "sluice-simulator",
    dimensions: 512,
    contextLength: 8_191,
    promptPrice: 20_000_000n
  },
  {
    id: "sluice-embed-large",
    created: CREATED,
    ownedBy: "sluice-simulator",
    dimensions: 1_536,
    contextLength: 8_191,
    promptPrice: 130_000_000n
  }
]

const images: ReadonlyArray<ImageModel> = [
  {
    id: "sluice-image",
    created: CREATED,
    ownedBy: "sluice-simulator",
    sizes: ["1024x1024", "1536x1024", "1024x1536", "512x512", "256x256"],
    imagePrice: 40_000_000n
  }
]

const speech: ReadonlyArray<SpeechModel> = [
  {
    id: "sluice-voice",
    created: CREATED,
    ownedBy: "sluice-simulator",
    voices: ["alloy", "ash", "ballad", "coral", "echo", "fable", "nova", "onyx", "sage", "shimmer", "verse"],
    maxInputCharacters: 4_096,
    characterPrice: 15_000_000_000n
  }
]

const transcription: ReadonlyArray<TranscriptionModel> = [
  {
    id: "sluice-listen",
    created: CREATED,
    ownedBy: "sluice-simulator",
    maxSeconds: DEFAULT_MAX_SECONDS,
    minutePrice: 6_000_000n
  }
]

const videos: ReadonlyArray<VideoModel> = [
  {
    id: "sluice-film",
    created: CREATED,
    ownedBy: "sluice-simulator",
    sizes: ["1280x720", "720x1280", "640x368"],
    seconds: [4, 8, 12],
    secondPrice: 100_000_000n
  }
]

export const defaultWorld = (seed: number): ModelWorld => ({
  seed,
  latency: "paced",
  models: catalog,
  embeddings,
  images,
  speech,
  transcription,
  videos
})

export const instant = (seed: number): ModelWorld => ({
  seed,
  latency: "none",
  models: catalog.map((model) => ({ ...model, words: [10, 20] })),
  embeddings,
  images,
  speech,
  transcription,
  videos
})
