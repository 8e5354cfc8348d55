/**
 * The models of a catalog file and the servers behind them, as the provider works with them: prices as nano-USD, keys
 * read. All that is wrong with a file is told at once, by path; nothing that might be a key is ever repeated.
 */
import { array, issuesIn, record, findRepeatedIds } from "@sluice/domain/files/JsonFile"
import type { SpeechModel, TranscriptionModel, VideoModel } from "@sluice/domain/models/MediaProvider"
import {
  chatModel,
  embeddingModel,
  imageModel,
  speechModel,
  transcriptionModel,
  videoModel
} from "@sluice/domain/models/ModelEntry"
import type { EmbeddingModel, ImageModel, Model } from "@sluice/domain/models/ModelProvider"
import { Context, Redacted, Result, Schema } from "effect"
import { CatalogFile, type CatalogModelEntry, type Omittable, type UpstreamEntry } from "./CatalogFile.ts"

/** A server as it is called for one model. */
export interface Server {
  readonly baseUrl: URL
  readonly key: Redacted.Redacted | undefined
  /** What it calls the model. */
  readonly model: string
  readonly weight: number
  readonly timeoutMs: number
  readonly maxConcurrency: number
  readonly maxTokensField: "max_tokens" | "max_completion_tokens"
  readonly omit: ReadonlySet<Omittable>
}

export interface ServedModel<M> {
  readonly model: M
  readonly servers: ReadonlyArray<Server>
}

export interface ServedModels {
  readonly chat: ReadonlyArray<ServedModel<Model>>
  readonly embeddings: ReadonlyArray<ServedModel<EmbeddingModel>>
  readonly images: ReadonlyArray<ServedModel<ImageModel>>
  readonly speech: ReadonlyArray<ServedModel<SpeechModel>>
  readonly transcription: ReadonlyArray<ServedModel<TranscriptionModel>>
  readonly video: ReadonlyArray<ServedModel<VideoModel>>
}

export class UpstreamCatalog extends Context.Service<UpstreamCatalog, ServedModels>()(
  "@sluice/providers/openai-compatible/catalog/UpstreamCatalog"
) {}

/** Keys by the variable that was named; those of variables that are not set are absent. */
export type Keys = ReadonlyMap<string, Redacted.Redacted>

/** The offers of a parsed file, or everything that is wrong with it. */
export const servedModelsOf = (file: unknown, keys: Keys): Result.Result<ServedModels, ReadonlyArray<string>> => {
  const decoded = decode(file)
  const issues = [
    ...(Result.isFailure(decoded) ? issuesIn(decoded.failure, complaint) : []),
    ...findRepeatedIds(file, "models", "id"),
    ...missingKeys(file, keys)
  ]
  if (Result.isFailure(decoded) || issues.length > 0) return Result.fail(issues)
  const { models } = decoded.success
  const of = <K extends CatalogModelEntry["kind"], M>(
    kind: K,
    model: (entry: Extract<CatalogModelEntry, { kind: K }>) => M
  ) =>
    models
      .filter((entry): entry is Extract<CatalogModelEntry, { kind: K }> => entry.kind === kind)
      .map((entry) => ({
        model: model(entry),
        servers: entry.upstreams.map((upstream) => serverOf(upstream, entry.id, keys))
      }))
  return Result.succeed({
    chat: of("chat", chatModel),
    embeddings: of("embeddings", embeddingModel),
    images: of("images", imageModel),
    speech: of("speech", speechModel),
    transcription: of("transcription", transcriptionModel),
    video: of("video", videoModel)
  })
}

/** The variables that a file names, also one with mistakes. */
export const keyNames = (file: unknown): ReadonlyArray<string> => [
  ...new Set(upstreamsOf(file).flatMap(({ variable }) => (variable === undefined ? [] : [variable])))
]

const decode = Schema.decodeUnknownResult(CatalogFile, { errors: "all", onExcessProperty: "error" })

const serverOf = (entry: UpstreamEntry, id: string, keys: Keys): Server => ({
  baseUrl: new URL(entry.base_url),
  key: entry.api_key_env === undefined ? undefined : keys.get(entry.api_key_env),
  model: entry.model ?? id,
  weight: entry.weight ?? 1,
  timeoutMs: (entry.timeout_seconds ?? 300) * 1_000,
  maxConcurrency: entry.max_concurrency ?? 256,
  maxTokensField: entry.max_tokens_field ?? "max_tokens",
  omit: new Set(entry.omit)
})

const complaint = (message: string, field: string): string | undefined => {
  if (message !== "Expected no excess property") return undefined
  return /key|token|secret|auth/i.test(field)
    ? "is no field here; keys are named by variable, with api_key_env"
    : "is no field here; take it out or correct its name (docs/models.schema.json lists them)"
}

const upstreamsOf = (file: unknown) =>
  array(record(file)["models"]).flatMap((model, at) =>
    array(record(model)["upstreams"]).map((upstream, server) => {
      const variable = record(upstream)["api_key_env"]
      return {
        path: `models[${at}].upstreams[${server}].api_key_env`,
        variable: typeof variable === "string" && /^[A-Za-z_][A-Za-z0-9_]{0,127}$/.test(variable) ? variable : undefined
      }
    })
  )

/** A variable's name may be a key that was put in the wrong place: it is not repeated either. */
const missingKeys = (file: unknown, keys: Keys): ReadonlyArray<string> =>
  upstreamsOf(file).flatMap(({ path, variable }) => {
    if (variable === undefined) return []
    const key = keys.get(variable)
    if (key === undefined) return [`${path} names a variable that is not set; set it, or leave api_key_env out`]
    return /^[!-~]{1,4096}$/.test(Redacted.value(key))
      ? []
      : [`${path} names a variable whose value is no key: it must be one line of visible ASCII characters`]
  })
