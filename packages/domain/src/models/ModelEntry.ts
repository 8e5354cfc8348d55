/**
 * A model in a file that an operator writes: its name, its abilities and its prices. Prices are USD in the file and
 * nano-USD in the model.
 */
import { Schema } from "effect"
import { fromUsd } from "../billing/Money.ts"
import { list, opt, text, usd, whole } from "../files/FileFields.ts"
import type { SpeechModel, TranscriptionModel, VideoModel } from "./MediaProvider.ts"
import type { EmbeddingModel, ImageModel, Model } from "./ModelProvider.ts"

const common = {
  id: text(/^[\w./:@+-]{1,256}$/, "1 to 256 letters, digits and _ . / : @ + -").annotate({
    description: "The name that callers use; each once in the file"
  }),
  owned_by: opt(text(/^[ -~]{1,64}$/, "1 to 64 characters"), "Shown in GET /models; `operator` where left out"),
  created: opt(whole(0, 4_102_444_800), "Unix seconds, shown in GET /models; 0 where left out")
}

const size = text(/^[1-9]\d{1,4}x[1-9]\d{1,4}$/, "a size such as 1024x1024")

export const chatFields = {
  kind: Schema.Literal("chat"),
  ...common,
  context_length: whole(1, 100_000_000),
  max_output_tokens: whole(1, 100_000_000),
  vision: opt(Schema.Boolean, "Whether it takes images; false where left out"),
  price_usd: Schema.Struct({
    million_prompt_tokens: usd("One million tokens of the prompt"),
    million_completion_tokens: usd("One million tokens of the answer")
  })
}

export const embeddingsFields = {
  kind: Schema.Literal("embeddings"),
  ...common,
  dimensions: whole(1, 65_536),
  context_length: whole(1, 10_000_000),
  price_usd: Schema.Struct({ million_tokens: usd("One million tokens") })
}

export const imagesFields = {
  kind: Schema.Literal("images"),
  ...common,
  sizes: list(size, 32),
  price_usd: Schema.Struct({ image: usd("One image") })
}

export const speechFields = {
  kind: Schema.Literal("speech"),
  ...common,
  voices: list(text(/^[ -~]{1,64}$/, "the name of a voice"), 256),
  max_input_characters: whole(1, 100_000),
  price_usd: Schema.Struct({ million_characters: usd("One million characters that are spoken") })
}

/** Four hours: a long meeting fits, and no request holds an upstream for a day. */
export const DEFAULT_MAX_SECONDS = 14_400

export const transcriptionFields = {
  kind: Schema.Literal("transcription"),
  ...common,
  max_seconds: opt(whole(1, 86_400), `Of a sound; ${DEFAULT_MAX_SECONDS} where left out`),
  price_usd: Schema.Struct({ minute: usd("One minute of sound") })
}

export const videoFields = {
  kind: Schema.Literal("video"),
  ...common,
  sizes: list(size, 32),
  seconds: list(whole(1, 600), 32),
  price_usd: Schema.Struct({ second: usd("One second of video") })
}

type Entry<F extends Schema.Struct.Fields> = Schema.Struct<F>["Type"]

export const chatModel = (entry: Entry<typeof chatFields>): Model => ({
  ...commonOf(entry),
  contextLength: entry.context_length,
  maxOutputTokens: entry.max_output_tokens,
  vision: entry.vision ?? false,
  promptPrice: fromUsd(entry.price_usd.million_prompt_tokens),
  completionPrice: fromUsd(entry.price_usd.million_completion_tokens)
})

export const embeddingModel = (entry: Entry<typeof embeddingsFields>): EmbeddingModel => ({
  ...commonOf(entry),
  dimensions: entry.dimensions,
  contextLength: entry.context_length,
  promptPrice: fromUsd(entry.price_usd.million_tokens)
})

export const imageModel = (entry: Entry<typeof imagesFields>): ImageModel => ({
  ...commonOf(entry),
  sizes: atLeastOne(entry.sizes),
  imagePrice: fromUsd(entry.price_usd.image)
})

export const speechModel = (entry: Entry<typeof speechFields>): SpeechModel => ({
  ...commonOf(entry),
  voices: atLeastOne(entry.voices),
  maxInputCharacters: entry.max_input_characters,
  characterPrice: fromUsd(entry.price_usd.million_characters)
})

export const transcriptionModel = (entry: Entry<typeof transcriptionFields>): TranscriptionModel => ({
  ...commonOf(entry),
  maxSeconds: entry.max_seconds ?? DEFAULT_MAX_SECONDS,
  minutePrice: fromUsd(entry.price_usd.minute)
})

export const videoModel = (entry: Entry<typeof videoFields>): VideoModel => ({
  ...commonOf(entry),
  sizes: atLeastOne(entry.sizes),
  seconds: atLeastOne(entry.seconds),
  secondPrice: fromUsd(entry.price_usd.second)
})

const commonOf = ({ created, id, owned_by }: Entry<typeof common>) => ({
  id,
  created: created ?? 0,
  ownedBy: owned_by ?? "operator"
})

/** The schema refuses an empty list. */
const atLeastOne = <A>(list: ReadonlyArray<A>) => list as readonly [A, ...ReadonlyArray<A>]
