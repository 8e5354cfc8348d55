/**
 * A rule of the house that neither TypeScript nor workspaces keep: it finds violations in sources, says what to do
 * instead, and carries a source that breaks it, so that the test of the rules can show that each one can fail.
 */
import type { Source } from "./Sources.ts"

export interface Rule {
  readonly title: string
  readonly instead: string
  readonly find: (sources: ReadonlyArray<Source>) => ReadonlyArray<string>
  /** A path and a text that must be found; more files follow after lines `//@file path`. */
  readonly breaks: readonly [path: string, text: string]
}

/** Product code. Of `packages/testing` only the public test double is; its fixtures serve the suites of this checkout. */
export const isSource = ({ path }: Source) =>
  /^packages\/(?!testing\/)[a-z-]+\/src\/|^packages\/testing\/src\/double\//.test(path)

export const fileName = ({ path }: Source) => path.slice(path.lastIndexOf("/") + 1)

/** Where the process meets its surroundings: it may read the environment, write to the terminal, take the real time. */
export const isEntry = (source: Source) => fileName(source) === "main.ts"

/** The only files with SQL, but for the one that opens the database. `X.sql.ts` holds the statements of a store beside it. */
export const isSql = (source: Source) => /(Store|Migrations)\.ts$|\.sql\.ts$|\/migrations\//.test(source.path)

export const perFile =
  (holds: (source: Source) => boolean, complain: (source: Source) => ReadonlyArray<string>): Rule["find"] =>
  (sources) =>
    sources.filter(holds).flatMap((source) => complain(source).map((what) => `${source.path}: ${what}`))

export const matches = (source: Source, pattern: RegExp) => [
  ...new Set([...source.code.matchAll(pattern)].map((match) => match[0].trim()))
]

/** The template strings, without what is put into them. */
export const literalsOf = (source: Source): ReadonlyArray<string> =>
  [...source.code.matchAll(/`[^`]*`/g)].map(([text]) => text.replace(/\$\{[^}]*\}/g, ""))

export const templatesOf = (source: Source): string => literalsOf(source).join("\n")
