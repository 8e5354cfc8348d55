/** Reads a catalog file and the keys that it names. Fails with all that is wrong with it, in words, never with its text. */
import { Config, Effect, FileSystem, Layer, Option, Redacted, Result, Schema } from "effect"
import { Catalog, keyNames, type Keys, offersOf } from "./Catalog.ts"

export class CatalogInvalid extends Schema.TaggedError<CatalogInvalid>()("CatalogInvalid", {
  file: Schema.String,
  issues: Schema.Array(Schema.String)
}) {
  override get message(): string {
    return `The catalog of models ${this.file} can't be used:\n${this.issues.map((issue) => `  ${issue}`).join("\n")}`
  }
}

const MAX_BYTES = 4 * 1024 * 1024
/** Of a file that is wrong everywhere, as much as people read. */
const MAX_ISSUES = 100

export const layer = (file: string): Layer.Layer<Catalog, CatalogInvalid, FileSystem.FileSystem> =>
  Layer.effect(Catalog, load(file))

const load = Effect.fnUntraced(function* (file: string) {
  const invalid = (...issues: ReadonlyArray<string>) => {
    const more = issues.length - MAX_ISSUES
    return new CatalogInvalid({
      file,
      issues: more > 0 ? [...issues.slice(0, MAX_ISSUES), `and ${more} more mistakes`] : issues
    })
  }
  const text = yield* readBounded(file).pipe(Effect.mapError((issue) => invalid(issue)))
  const parsed = yield* Effect.try({ try: (): unknown => JSON.parse(text), catch: (error) => invalid(notJson(error)) })
  const keys = yield* keysOf(keyNames(parsed))
  return yield* Effect.fromResult(Result.mapError(offersOf(parsed, keys), (issues) => invalid(...issues)))
})

const readBounded = (file: string): Effect.Effect<string, string, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    const { size, type } = yield* files.stat(file)
    if (type !== "File") return yield* Effect.fail("it is not a file")
    if (size > MAX_BYTES) return yield* Effect.fail(`it is larger than ${MAX_BYTES} bytes`)
    return yield* files.readFileString(file)
  }).pipe(
    Effect.mapError((error) => {
      if (typeof error === "string") return error
      return error.reason._tag === "NotFound" ? "there is no such file" : "it can't be read"
    })
  )

/** Where the parser stopped; its words quote the file, which may hold a key in the wrong place. */
const notJson = (error: unknown): string => {
  const at = /\(line (\d+) column (\d+)\)/.exec(error instanceof Error ? error.message : "")
  return at === null
    ? "it is not JSON: it ends too early or is empty"
    : `it is not JSON at line ${at[1]}, column ${at[2]}`
}

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
