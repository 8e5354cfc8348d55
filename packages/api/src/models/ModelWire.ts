/** Models on the wire: OpenAI's form with additional fields (decisions: Inference surface). */
import { toUsd } from "@sluice/domain/billing/Money"
import type { SpeechModel, TranscriptionModel, VideoModel } from "@sluice/domain/models/MediaProvider"
import type { EmbeddingModel, ImageModel, Model } from "@sluice/domain/models/ModelProvider"
import * as Schema from "effect/Schema"
import { nullable, withDefault } from "../infra/WireFields.ts"

export const ModelWire = Schema.Struct({
  id: Schema.String,
  object: Schema.Literal("model"),
  created: Schema.Int.annotate({ description: "Unix time in seconds" }),
  owned_by: Schema.String,
  modalities: Schema.Struct({ input: Schema.Array(Schema.String), output: Schema.Array(Schema.String) }),
  context_length: nullable(Schema.Int, "Tokens; null: the model has no context"),
  max_output_tokens: Schema.optionalKey(Schema.Int),
  sizes: Schema.optionalKey(
    Schema.Array(Schema.String).annotate({ description: "Sizes of an image or a video, in pixels" })
  ),
  dimensions: Schema.optionalKey(Schema.Int.annotate({ description: "Maximum dimensions of an embedding" })),
  seconds: Schema.optionalKey(Schema.Array(Schema.Int).annotate({ description: "Lengths of a video" })),
  voices: Schema.optionalKey(Schema.Array(Schema.String)),
  max_input_characters: Schema.optionalKey(Schema.Int.annotate({ description: "Maximum length of a text to speak" })),
  max_seconds: Schema.optionalKey(Schema.Int.annotate({ description: "Maximum length of a sound to transcribe" })),
  capabilities: withDefault(Schema.Array(Schema.String), []),
  pricing: Schema.Struct({
    prompt: Schema.optionalKey(Schema.Finite.annotate({ description: "USD for one million tokens" })),
    image: Schema.optionalKey(Schema.Finite.annotate({ description: "USD for one image" })),
    characters: Schema.optionalKey(Schema.Finite.annotate({ description: "USD for one million characters" })),
    second: Schema.optionalKey(Schema.Finite.annotate({ description: "USD for one second of video" })),
    minute: Schema.optionalKey(Schema.Finite.annotate({ description: "USD for one minute of sound" })),
    completion: Schema.optionalKey(Schema.Finite.annotate({ description: "USD for one million tokens" }))
  })
}).annotate({ identifier: "Model" })

export const ModelListWire = Schema.Struct({ object: Schema.Literal("list"), data: Schema.Array(ModelWire) }).annotate({
  identifier: "ModelList"
})

const head = ({ created, id, ownedBy }: Pick<Model, "created" | "id" | "ownedBy">) => ({
  id,
  object: "model" as const,
  created,
  owned_by: ownedBy,
  context_length: null
})

export const modelToWire = (model: Model): typeof ModelWire.Type => ({
  ...head(model),
  modalities: { input: model.vision ? ["text", "image"] : ["text"], output: ["text"] },
  context_length: model.contextLength,
  max_output_tokens: model.maxOutputTokens,
  capabilities: ["chat", "streaming", "tools", "json_schema", ...(model.vision ? ["vision"] : [])],
  pricing: { prompt: toUsd(model.promptPrice), completion: toUsd(model.completionPrice) }
})

export const embeddingModelToWire = (model: EmbeddingModel): typeof ModelWire.Type => ({
  ...head(model),
  modalities: { input: ["text"], output: ["embedding"] },
  context_length: model.contextLength,
  dimensions: model.dimensions,
  capabilities: ["embeddings"],
  pricing: { prompt: toUsd(model.promptPrice) }
})

export const imageModelToWire = (model: ImageModel): typeof ModelWire.Type => ({
  ...head(model),
  modalities: { input: ["text"], output: ["image"] },
  sizes: model.sizes,
  capabilities: ["images"],
  pricing: { image: toUsd(model.imagePrice) }
})

export const speechModelToWire = (model: SpeechModel): typeof ModelWire.Type => ({
  ...head(model),
  modalities: { input: ["text"], output: ["audio"] },
  voices: model.voices,
  max_input_characters: model.maxInputCharacters,
  capabilities: ["speech"],
  pricing: { characters: toUsd(model.characterPrice) }
})

export const transcriptionModelToWire = (model: TranscriptionModel): typeof ModelWire.Type => ({
  ...head(model),
  modalities: { input: ["audio"], output: ["text"] },
  max_seconds: model.maxSeconds,
  capabilities: ["transcription"],
  pricing: { minute: toUsd(model.minutePrice) }
})

export const videoModelToWire = (model: VideoModel): typeof ModelWire.Type => ({
  ...head(model),
  modalities: { input: ["text", "image"], output: ["video"] },
  sizes: model.sizes,
  seconds: model.seconds,
  capabilities: ["video"],
  pricing: { second: toUsd(model.secondPrice) }
})
