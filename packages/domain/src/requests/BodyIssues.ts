/**
 * What is wrong with a body, each mistake with its path, in words that any caller reads: Effect's own words for a type that
 * does not fit are those of TypeScript.
 */
import { cutText } from "./LoneSurrogates.ts"
import { SchemaAST, SchemaIssue } from "effect"

/** As callers of the infrastructure surface get it: the path is dotted, and empty for the whole. */
export interface Issue {
  readonly path: string
  readonly message: string
}

/** A path as it is shown: dotted, with a name that is empty in quotes, so that it is not taken for the whole. */
export const pathText = (path: ReadonlyArray<string>): string =>
  path.map((name) => (name === "" ? '""' : name)).join(".")

/** Of one answer at most: a body has fewer, the parameters of a query may have more. */
const MAX_ISSUES = 1_000

/** All that is wrong, each once. `kind`: what a name stands for that is not known. */
export const listed = (issue: SchemaIssue.Issue, kind: string): ReadonlyArray<Issue> => {
  const found = new Map<string, Issue>()
  for (const one of issuesOf(issue, undefined).slice(0, MAX_ISSUES)) {
    const path = pathText(one.path)
    const message = worded(one.message, path === "", kind)
    found.set(`${path}\n${message}`, { path, message })
  }
  return [...found.values()]
}

const worded = (message: string, isWhole: boolean, kind: string): string => {
  if (message === "Expected no excess property") return `is not a ${kind}`
  if (message === REQUIRED) return "is required"
  if (isWhole && message === "Expected an object") return "must be a JSON object"
  return message.startsWith("Expected ") ? `must be ${message.slice(9)}` : message
}

/** The words that a schema has for whatever does not fit it, on the type or on one of its checks. */
export const wordsOf = ({ annotations, checks }: SchemaAST.AST): string | undefined =>
  [annotations, ...(checks ?? []).map((check) => check.annotations)]
    .map((one) => one?.["message"])
    .find((message) => typeof message === "string")

export interface BodyIssue {
  readonly path: ReadonlyArray<string>
  readonly message: string
}

/** `value`: what was sent, where the issue is. */
export const issuesOf = (
  issue: SchemaIssue.Issue,
  value: unknown,
  path: ReadonlyArray<string> = []
): ReadonlyArray<BodyIssue> => {
  const of = (message: string) => [{ path, message }]
  switch (issue._tag) {
    case "Pointer":
      return issuesOf(issue.issue, at(value, issue.path), [...path, ...issue.path.map(String)])
    case "Encoding": {
      const words = wordsOf(issue.ast)
      return words === undefined ? issuesOf(issue.issue, value, path) : of(words)
    }
    case "Composite":
      return issue.issues.flatMap((inner) => issuesOf(inner, value, path))
    case "AnyOf":
      return issue.issues.length === 0
        ? of(wordsOf(issue.ast) ?? expected(issue.ast, value))
        : issue.issues.flatMap((inner) => issuesOf(inner, value, path))
    case "InvalidType":
      return of(wordsOf(issue.ast) ?? expected(issue.ast, value))
    case "MissingKey":
      return of(REQUIRED)
    default:
      return standard(issue).issues.map(({ message, path: within = [] }) => ({
        path: [...path, ...within.map(String)],
        message
      }))
  }
}

const REQUIRED = "it is required"
const standard = SchemaIssue.makeFormatterStandardSchemaV1()

const at = (value: unknown, path: ReadonlyArray<PropertyKey>): unknown =>
  path.reduce<unknown>((inner, key) => (isObject(inner) ? Reflect.get(inner, key) : undefined), value)

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null

const expected = (ast: SchemaAST.AST, value: unknown): string => {
  const all = alternatives(ast)
  const types = all.flatMap(typeOf)
  const plain = all.flatMap((one) => (typeOf(one).length === 0 ? nounOf(one) : []))
  const nouns = [...new Set([...plain, ...(types.length === 0 ? [] : [`an object of type ${oneOf(types)}`])])]
  const sent = types.length === 0 ? undefined : at(value, ["type"])
  const but = typeof sent === "string" ? `, not of type ${JSON.stringify(cutText(sent, SHOWN_CHARACTERS))}` : ""
  return `Expected ${oneOf(nouns)}${but}`
}

/** How much of what was sent is named in an answer. */
const SHOWN_CHARACTERS = 64

const alternatives = (ast: SchemaAST.AST): ReadonlyArray<SchemaAST.AST> =>
  SchemaAST.isUnion(ast) ? ast.types.flatMap(alternatives) : [ast]

/** The `type` by which an object is told from others, as JSON. */
const typeOf = (ast: SchemaAST.AST): ReadonlyArray<string> => {
  const type = SchemaAST.isObjects(ast) ? ast.propertySignatures.find(({ name }) => name === "type")?.type : undefined
  return type !== undefined && SchemaAST.isLiteral(type) ? [JSON.stringify(type.literal)] : []
}

/** None for null: it stands for a field that is left out. */
const nounOf = (ast: SchemaAST.AST): ReadonlyArray<string> => {
  switch (ast._tag) {
    case "Null":
      return []
    case "Literal":
      return [JSON.stringify(ast.literal)]
    case "String":
      return ["a string"]
    case "Number":
      return [String(ast.checks?.at(-1)?.annotations?.["expected"] ?? "a number")]
    case "Boolean":
      return ["true or false"]
    case "Arrays":
      return ["an array"]
    case "Objects":
      return ["an object"]
    default:
      return ["another value"]
  }
}

const oneOf = (nouns: ReadonlyArray<string>): string =>
  nouns.length < 2 ? nouns.join("") : `${nouns.slice(0, -1).join(", ")} or ${nouns.at(-1)}`
