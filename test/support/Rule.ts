/**
 * A rule that TypeScript and workspaces do not check. It finds violations in sources, says the remedy, and carries a source that
 * breaks it, so that a test can show that the rule can fail.
 */
import type { Source } from "./Sources.ts"

export interface Rule {
  readonly title: string
  readonly instead: string
  readonly find: (sources: ReadonlyArray<Source>) => ReadonlyArray<string>
  /** A path and a text that the rule must find. More files follow after lines `//@file path`. */
  readonly breaks: readonly [path: string, text: string]
}

/** Product code. Of `packages/testing` only the public test double is; its fixtures serve the suites of this checkout. */
export const isSource = ({ path }: Source) =>
  /^packages\/(?!testing\/)[a-z-]+\/src\/|^packages\/testing\/src\/double\//.test(path)

export const fileName = ({ path }: Source) => path.slice(path.lastIndexOf("/") + 1)

/** Entry points of a process: they may read the environment, write to the terminal and read the wall clock. */
export const isEntry = (source: Source) => fileName(source) === "main.ts"

/** The files that may contain SQL. The file that opens the database may too. `X.sql.ts` holds the statements of the store beside it. */
export const isSql = (source: Source) => /(Store|Migrations)\.ts$|\.sql\.ts$|\/migrations\//.test(source.path)

export const perFile =
  (holds: (source: Source) => boolean, complain: (source: Source) => ReadonlyArray<string>): Rule["find"] =>
  (sources) =>
    sources.filter(holds).flatMap((source) => complain(source).map((what) => `${source.path}: ${what}`))

export const matches = (source: Source, pattern: RegExp) => [
  ...new Set([...source.code.matchAll(pattern)].map((match) => match[0].trim()))
]

/** The literal parts of each template string. */
export const literalsOf = (source: Source): ReadonlyArray<string> =>
  [...source.code.matchAll(/`[^`]*`/g)].map(([text]) => text.replace(/\$\{[^}]*\}/g, ""))

export const templatesOf = (source: Source): string => literalsOf(source).join("\n")
