/**
 * Lists the mistakes in a request body or query, each with its path, in words for API callers. Effect's own messages
 * for a value of the wrong type are in TypeScript's words.
 */
import { cutText } from "./LoneSurrogates.ts"
import { SchemaAST, SchemaIssue } from "effect"

/** An issue as the infrastructure surface returns it: the path is dotted, and empty for the whole body. */
export interface Issue {
  readonly path: string
  readonly message: string
}

/** The text of a path: its names joined by dots. An empty name is `""`, so that it differs from the whole body. */
export const pathText = (path: ReadonlyArray<string>): string =>
  path.map((name) => (name === "" ? '""' : name)).join(".")

/** Maximum issues of one answer. A body cannot have more; the parameters of a query may. */
const MAX_ISSUES = 1_000

/** Returns every issue once. `kind` names the unknown field in a message: "is not a `kind`". */
export const listIssues = (issue: SchemaIssue.Issue, kind: string): ReadonlyArray<Issue> => {
  const issues = new Map<string, Issue>()
  for (const bodyIssue of issuesOf(issue, undefined).slice(0, MAX_ISSUES)) {
    const path = pathText(bodyIssue.path)
    const message = rewordMessage(bodyIssue.message, path === "", kind)
    issues.set(`${path}\n${message}`, { path, message })
  }
  return [...issues.values()]
}

const rewordMessage = (message: string, isWhole: boolean, kind: string): string => {
  if (message === "Expected no excess property") return `is not a ${kind}`
  if (message === REQUIRED) return "is required"
  if (isWhole && message === "Expected an object") return "must be a JSON object"
  return message.startsWith("Expected ") ? `must be ${message.slice(9)}` : message
}

/**
 * Returns the message annotation of a schema, of its type or else of its first check that has one; undefined if there
 * is none.
 */
export const messageOf = ({ annotations, checks }: SchemaAST.AST): string | undefined =>
  [annotations, ...(checks ?? []).map((check) => check.annotations)]
    .map((annotation) => annotation?.["message"])
    .find((message) => typeof message === "string")

export interface BodyIssue {
  readonly path: ReadonlyArray<string>
  readonly message: string
}

/** Flattens an issue. `value` is the sent value at `path`. */
export const issuesOf = (
  issue: SchemaIssue.Issue,
  value: unknown,
  path: ReadonlyArray<string> = []
): ReadonlyArray<BodyIssue> => {
  const of = (message: string) => [{ path, message }]
  switch (issue._tag) {
    case "Pointer":
      return issuesOf(issue.issue, valueAt(value, issue.path), [...path, ...issue.path.map(String)])
    case "Encoding": {
      const words = messageOf(issue.ast)
      return words === undefined ? issuesOf(issue.issue, value, path) : of(words)
    }
    case "Composite":
      return issue.issues.flatMap((inner) => issuesOf(inner, value, path))
    case "AnyOf":
      return issue.issues.length === 0
        ? of(messageOf(issue.ast) ?? expectedMessage(issue.ast, value))
        : issue.issues.flatMap((inner) => issuesOf(inner, value, path))
    case "InvalidType":
      return of(messageOf(issue.ast) ?? expectedMessage(issue.ast, value))
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

const valueAt = (value: unknown, path: ReadonlyArray<PropertyKey>): unknown =>
  path.reduce<unknown>((inner, key) => (isObject(inner) ? Reflect.get(inner, key) : undefined), value)

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null

const expectedMessage = (ast: SchemaAST.AST, value: unknown): string => {
  const all = alternatives(ast)
  const types = all.flatMap(typeOf)
  const plain = all.flatMap((member) => (typeOf(member).length === 0 ? nounOf(member) : []))
  const nouns = [...new Set([...plain, ...(types.length === 0 ? [] : [`an object of type ${oneOf(types)}`])])]
  const sentType = types.length === 0 ? undefined : valueAt(value, ["type"])
  const actual =
    typeof sentType === "string" ? `, not of type ${JSON.stringify(cutText(sentType, MAX_QUOTED_CHARACTERS))}` : ""
  return `Expected ${oneOf(nouns)}${actual}`
}

/** Characters of a sent value that a message quotes at most. */
const MAX_QUOTED_CHARACTERS = 64

const alternatives = (ast: SchemaAST.AST): ReadonlyArray<SchemaAST.AST> =>
  SchemaAST.isUnion(ast) ? ast.types.flatMap(alternatives) : [ast]

/** The literal value of an object's `type` field, which distinguishes the members of a union, as JSON. */
const typeOf = (ast: SchemaAST.AST): ReadonlyArray<string> => {
  const type = SchemaAST.isObjects(ast) ? ast.propertySignatures.find(({ name }) => name === "type")?.type : undefined
  return type !== undefined && SchemaAST.isLiteral(type) ? [JSON.stringify(type.literal)] : []
}

/** The noun for a schema in "Expected ...". None for null, which stands for an omitted field. */
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
