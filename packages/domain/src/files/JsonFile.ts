/** Reads a JSON file of an operator, and says what is wrong with it: by path, in words, never with its text. */
import { Effect, FileSystem, type Schema, SchemaIssue } from "effect"

const MAX_BYTES = 4 * 1024 * 1024
/** Of a file that is wrong everywhere, as much as people read. */
const MAX_ISSUES = 100

/** The parsed file, or why there is none. */
export const readJsonFile = Effect.fnUntraced(function* (file: string) {
  const text = yield* readBounded(file)
  return yield* Effect.try({ try: (): unknown => JSON.parse(text), catch: notJson })
})

/** So many as people read. */
export const mostIssues = (issues: ReadonlyArray<string>): ReadonlyArray<string> => {
  const more = issues.length - MAX_ISSUES
  return more > 0 ? [...issues.slice(0, MAX_ISSUES), `and ${more} more mistakes`] : issues
}

/** `what(message, field)`: other words for some of them. */
export const issuesIn = (
  error: Schema.SchemaError,
  what: (message: string, field: string) => string | undefined = () => undefined
): ReadonlyArray<string> =>
  standard(error.issue).issues.map((issue) => {
    const path = (issue.path ?? []).map((key) => (typeof key === "object" ? key.key : key))
    return `${pathText(path)} ${what(issue.message, String(path.at(-1))) ?? complaint(issue.message)}`
  })

/** An id that two entries of a list have. `list`: its name in the file. */
export const repeatedIds = (file: unknown, list: string, id: string): ReadonlyArray<string> => {
  const first = new Map<unknown, number>()
  return array(record(file)[list]).flatMap((entry, at) => {
    const own = record(entry)[id]
    const before = first.get(own)
    if (before === undefined) first.set(own, at)
    return before === undefined || typeof own !== "string"
      ? []
      : [`${list}[${at}].${id} is that of ${list}[${before}] too; give each a name of its own`]
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

/** Where the parser stopped; its words quote the file, which may hold a key in the wrong place. */
const notJson = (error: unknown): string => {
  const at = /\(line (\d+) column (\d+)\)/.exec(error instanceof Error ? error.message : "")
  return at === null
    ? "it is not JSON: it ends too early or is empty"
    : `it is not JSON at line ${at[1]}, column ${at[2]}`
}

const standard = SchemaIssue.makeFormatterStandardSchemaV1()

const complaint = (message: string): string => {
  if (message === "Missing key") return "is missing; add it"
  if (message === "Expected no excess property") return "is no field here; take it out or correct its name"
  if (message.includes('"kind"')) return `must have a "kind": chat, embeddings, images, speech, transcription or video`
  return message.replace(/^Expected /, "must be ")
}

const pathText = (path: ReadonlyArray<PropertyKey>): string =>
  path.length === 0
    ? "the file"
    : path.map((key, at) => (typeof key === "number" ? `[${key}]` : `${at === 0 ? "" : "."}${String(key)}`)).join("")
