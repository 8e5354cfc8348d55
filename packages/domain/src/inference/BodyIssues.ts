/**
 * What is wrong with a body, each mistake with its path, in words that any caller reads: Effect's own words for a type that
 * does not fit are those of TypeScript.
 */
import { SchemaAST, SchemaIssue } from "effect"

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
    case "Encoding":
      return issuesOf(issue.issue, value, path)
    case "Composite":
      return issue.issues.flatMap((inner) => issuesOf(inner, value, path))
    case "AnyOf":
      return issue.issues.length === 0
        ? of(expected(issue.ast, value))
        : issue.issues.flatMap((inner) => issuesOf(inner, value, path))
    case "InvalidType":
      return of(expected(issue.ast, value))
    case "MissingKey":
      return of("it is required")
    default:
      return standard(issue).issues.map(({ message, path: within = [] }) => ({
        path: [...path, ...within.map(String)],
        message
      }))
  }
}

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
  const but = typeof sent === "string" ? `, not of type ${JSON.stringify(sent.slice(0, SHOWN_CHARACTERS))}` : ""
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
