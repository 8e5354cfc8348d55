/**
 * Reads a JSON file of an operator and describes its mistakes, each with its path. The messages never quote the file,
 * which may hold secrets.
 */
import { Effect, FileSystem, type Schema, SchemaIssue } from "effect"

const MAX_BYTES = 4 * 1024 * 1024
/** Maximum mistakes in one message; people read no more. */
const MAX_ISSUES = 100

/** Returns the parsed file. Fails with the reason. */
export const readJsonFile = Effect.fnUntraced(function* (file: string) {
  const text = yield* readBounded(file)
  return yield* Effect.try({ try: (): unknown => JSON.parse(text), catch: describeSyntaxError })
})

/** Returns at most `MAX_ISSUES` issues, and the number of the others. */
export const limitIssues = (issues: ReadonlyArray<string>): ReadonlyArray<string> => {
  const more = issues.length - MAX_ISSUES
  return more > 0 ? [...issues.slice(0, MAX_ISSUES), `and ${more} more mistakes`] : issues
}

/**
 * Returns the issues of a schema error with their paths. `rewordIssue(message, field)` may return other words for an
 * issue.
 */
export const issuesIn = (
  error: Schema.SchemaError,
  rewordIssue: (message: string, field: string) => string | undefined = () => undefined
): ReadonlyArray<string> =>
  standard(error.issue).issues.map((issue) => {
    const path = (issue.path ?? []).map((key) => (typeof key === "object" ? key.key : key))
    return `${pathText(path)} ${rewordIssue(issue.message, String(path.at(-1))) ?? reword(issue.message)}`
  })

/**
 * Returns an issue for each entry whose `id` field repeats that of an earlier entry. `list`: the name of the list in
 * the file.
 */
export const findRepeatedIds = (file: unknown, list: string, id: string): ReadonlyArray<string> => {
  const indexById = new Map<unknown, number>()
  return array(record(file)[list]).flatMap((entry, index) => {
    const own = record(entry)[id]
    const firstIndex = indexById.get(own)
    if (firstIndex === undefined) indexById.set(own, index)
    return firstIndex === undefined || typeof own !== "string"
      ? []
      : [`${list}[${index}].${id} repeats ${list}[${firstIndex}].${id}; give each entry its own`]
  })
}

export const record = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {}
export const array = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])

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

/**
 * Names the place where the parser stopped. The parser's own message quotes the file, which may hold a key in the wrong
 * place.
 */
const describeSyntaxError = (error: unknown): string => {
  const position = /\(line (\d+) column (\d+)\)/.exec(error instanceof Error ? error.message : "")
  return position === null
    ? "it is not JSON: it ends too early or is empty"
    : `it is not JSON at line ${position[1]}, column ${position[2]}`
}

const standard = SchemaIssue.makeFormatterStandardSchemaV1()

const reword = (message: string): string => {
  if (message === "Missing key") return "is missing; add it"
  if (message === "Expected no excess property") return "is no field here; take it out or correct its name"
  if (message.includes('"kind"')) return `must have a "kind": chat, embeddings, images, speech, transcription or video`
  return message.replace(/^Expected /, "must be ")
}

const pathText = (path: ReadonlyArray<PropertyKey>): string =>
  path.length === 0
    ? "the file"
    : path.map((key, at) => (typeof key === "number" ? `[${key}]` : `${at === 0 ? "" : "."}${String(key)}`)).join("")
