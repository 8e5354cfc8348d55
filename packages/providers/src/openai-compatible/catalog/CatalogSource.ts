/** Reads a catalog file and the keys that it names. Fails with all that is wrong with it, in words, never with its text. */
import { limitIssues, readJsonFile } from "@sluice/domain/files/JsonFile"
import { Config, Effect, type FileSystem, Layer, Option, Redacted, Result, Schema } from "effect"
import { UpstreamCatalog, keyNames, type Keys, servedModelsOf } from "./UpstreamCatalog.ts"

export class CatalogInvalid extends Schema.TaggedError<CatalogInvalid>()("CatalogInvalid", {
  file: Schema.String,
  issues: Schema.Array(Schema.String)
}) {
  override get message(): string {
    return `The catalog of models ${this.file} can't be used:\n${this.issues.map((issue) => `  ${issue}`).join("\n")}`
  }
}

export const layer = (file: string): Layer.Layer<UpstreamCatalog, CatalogInvalid, FileSystem.FileSystem> =>
  Layer.effect(UpstreamCatalog, load(file))

const load = Effect.fnUntraced(function* (file: string) {
  const invalid = (issues: ReadonlyArray<string>) => new CatalogInvalid({ file, issues: limitIssues(issues) })
  const parsed = yield* Effect.mapError(readJsonFile(file), (issue) => invalid([issue]))
  const keys = yield* keysOf(keyNames(parsed))
  return yield* Effect.fromResult(Result.mapError(servedModelsOf(parsed, keys), invalid))
})

const keysOf = (names: ReadonlyArray<string>): Effect.Effect<Keys> =>
  Effect.map(
    Effect.forEach(names, (name) =>
      Effect.map(
        Effect.orElseSucceed(Config.option(Config.Redacted(name)), () => Option.none<Redacted.Redacted>()),
        (key): ReadonlyArray<readonly [string, Redacted.Redacted]> =>
          Option.isSome(key) && Redacted.value(key.value) !== "" ? [[name, key.value]] : []
      )
    ),
    (found) => new Map(found.flat())
  )
