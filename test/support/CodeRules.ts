/** Rules of code: file sizes, names, the place of SQL, time, chance and state, and tests that are switched off. */
import { fileName, isEntry, isSource, isSql, literalsOf, matches, perFile, type Rule, templatesOf } from "./Rule.ts"

const SIZE_LIMIT = 250
const SIZE_END = 400
/** Files above SIZE_LIMIT, each with the reason not to split it. */
const LARGE: Readonly<Record<string, string>> = {
  "packages/domain/test/jobs/JobLifecycle.test.ts": "one state machine, one suite",
  "packages/simulation/src/invariants/Invariants.ts": "the one list of all invariants",
  "packages/server/test/inference/chat/Chat.test.ts": "one endpoint, one suite"
}

const BANNED: ReadonlyArray<readonly [pattern: RegExp, instead: string]> = [
  [/\bas any\b/g, "name the type, or decode with Schema"],
  [/@ts-(ignore|expect-error|nocheck)/g, "make the types true"],
  [/\bconsole\.(log|error|warn|info|debug|table|trace|dir)\b/g, "Effect.log, or the Console service in the CLI"],
  [/\bDate\.now\b|\bnew Date\(\)|\bperformance\.timeOrigin\b/g, "Clock.currentTimeMillis"],
  [/\bMath\.random\b|\brandomUUID\(/g, "Crypto of effect for ids, a keyed draw from the seed for chance"],
  [/\bprocess\.env\b/g, "a field of ServerConfig"],
  [/\bset(Timeout|Interval)\(/g, "Effect.sleep or Schedule"]
]
/** Files that need a banned call, each with its reason. */
const ALLOWED: Readonly<Record<string, string>> = {
  "packages/server/src/http/SilentBodies.ts": "a socket's silence is timed by Node, which sees each byte",
  "packages/simulation/src/driver/Globals.ts": "it is what replaces them during a simulated run"
}

/** Stores whose last commits may be lost in a crash of the database, each with the observation that repeats them. */
const RELAXED: Readonly<Record<string, string>> = {
  "packages/domain/src/billing/BudgetStore.ts": "claims, which expire",
  "packages/domain/src/database/ReconciledStore.ts": "claims",
  "packages/domain/src/jobs/JobStore.ts": "the state of a job's machine, which is observed again",
  "packages/domain/src/machines/MachineStore.ts": "the state of a machine, which is observed again",
  "packages/domain/src/machines/OutputStore.ts": "output, which the machine still has",
  "packages/simulator/src/world/VolumeFilesStore.ts": "the simulated world's own",
  "packages/simulator/src/world/WorldStore.ts": "the simulated world's own"
}

/** Files whose errors are plain `Error` classes, each with the reason. */
const PLAIN_ERRORS: Readonly<Record<string, string>> = {
  "packages/machine-shell/src/commands/Options.ts": "commands of just-bash are promises of plain functions"
}
/** Maximum lines of one SQL literal: a reader sees them at once. */
const MAX_SQL_LINES = 60
const ONE_LETTER_CTE = /\b[a-z] as (?:not )?(?:materialized )?\(/gi

const FROM_THE_DATABASE = /\b(now|gen_random_uuid|clock_timestamp|random|uuidv7)\(\)|\bcurrent_(timestamp|date)\b/gi

export const codeRules: ReadonlyArray<Rule> = [
  {
    title: "files stay small",
    instead: `split by role; above ${SIZE_LIMIT} lines a file needs a reason in test/support/CodeRules.ts, ${SIZE_END} is the end`,
    find: (sources) =>
      sources.flatMap(({ path, lines }) =>
        lines > SIZE_END || (lines > SIZE_LIMIT && LARGE[path] === undefined) ? [`${path}: ${lines} lines`] : []
      ),
    breaks: ["packages/api/src/A.ts", "\n".repeat(SIZE_LIMIT + 1) + "x"]
  },
  {
    title: "every module has a header",
    instead:
      "open the file with a comment of 1 to 12 lines: what the module does, what it guarantees, what it does not do",
    find: perFile(
      (source) => !fileName(source).endsWith(".test.ts"),
      ({ text }) => {
        const head = /^(?:#!.*\n)?\/\*\*[\s\S]*?\*\//.exec(text)?.[0]
        return head === undefined
          ? ["no opening comment"]
          : head.split("\n").length > 14
            ? ["its opening comment is too long"]
            : []
      }
    ),
    breaks: ["packages/api/src/A.ts", "export const a = 1"]
  },
  {
    title: "files and folders are named after their subject",
    instead:
      "name the file after its main export and role (Job, JobStore, Jobs, JobReconciler); folders are lowercase nouns",
    find: perFile(isSource, (source) => [
      ...(/(Service|Manager|Impl|Live|Utils?|Helpers?|Common|Types)\.ts$/.test(source.path)
        ? ["the name says nothing"]
        : []),
      ...(/^([A-Z]\w*(\.sql)?|main|\d{4}_\w+)\.ts$/.test(fileName(source)) ? [] : ["not PascalCase"]),
      ...(/\/[A-Z][^/]*\//.test(source.path) || /\/(utils?|helpers?|common|types|services)\//i.test(source.path)
        ? ["its folder is no noun"]
        : []),
      ...matches(source, /\bclass \w*(Service|Manager|Impl|Utils|Helper)\b/g)
    ]),
    breaks: ["packages/server/src/jobs/JobUtils.ts", "/** x */"]
  },
  {
    title: "no barrel files",
    instead: "import the file itself; `exports` of each package reaches every file",
    find: perFile(
      ({ path }) => path.startsWith("packages/"),
      (source) => [...(fileName(source) === "index.ts" ? ["index.ts"] : []), ...matches(source, /^export \* .*$/gm)]
    ),
    breaks: ["packages/domain/src/jobs/Job.ts", 'export * from "./JobErrors.ts"']
  },
  {
    title: "SQL is in stores and migrations alone",
    instead: "give a *Store.ts a method that says what is wanted",
    find: perFile(
      (source) => isSource(source) && !isSql(source) && source.path !== "packages/server/src/database/Database.ts",
      (source) => [
        ...matches(source, /\b\w*[sS]ql(<[^`]{0,300}>)?`[^`]{0,40}/g),
        ...matches(source, /\bsql\.unsafe\(/g),
        ...matches(
          source,
          /[`"]\s*(select .* from|insert into|update \w+ set|delete from|truncate|lock table) [^`"]{0,40}/gi
        )
      ]
    ),
    breaks: ["packages/domain/src/jobs/Jobs.ts", "const rows = yield* sql`select 1`"]
  },
  {
    title: "a *.sql.ts file is read by its stores alone",
    instead: "import it from a *Store.ts or another *.sql.ts; give the store a method that says what is wanted",
    find: perFile(
      (source) => isSource(source) && !isSql(source),
      (source) => source.imports.flatMap(({ file }) => (file?.endsWith(".sql.ts") === true ? [file] : []))
    ),
    breaks: ["packages/domain/src/jobs/Jobs.ts", 'import { ADMIT_JOBS } from "./JobAdmission.sql.ts"']
  },
  {
    title: "statements are read a paragraph at a time",
    instead: `cut a literal of more than ${MAX_SQL_LINES} lines into named fragments (database/Statement.ts), one clause a line`,
    find: perFile(
      (source) => isSource(source) && isSql(source),
      (source) =>
        literalsOf(source)
          .filter((literal) => literal.split("\n").length > MAX_SQL_LINES)
          .map((literal) => `${literal.split("\n").length} lines: ${literal.slice(0, 40).trim()}`)
    ),
    breaks: ["packages/domain/src/jobs/JobStore.ts", `const LONG = \`select 1${"\n".repeat(MAX_SQL_LINES)}\``]
  },
  {
    title: "a common table expression is named by what it holds",
    instead: "say locked_jobs, settled_holds, updated_accounts: a past participle and the rows",
    find: perFile(
      (source) => isSource(source) && isSql(source),
      (source) => templatesOf(source).match(ONE_LETTER_CTE) ?? []
    ),
    breaks: ["packages/domain/src/jobs/JobStore.ts", "sql`with h as materialized (select 1) select * from h`"]
  },
  {
    title: "rows are checked, not believed",
    instead: "say what a row is by a schema, and read it through rowsOf (database/RowDecoder.ts)",
    find: perFile(
      (source) => source.path.startsWith("packages/domain/src/") && isSql(source),
      (source) => matches(source, /\b(\w*[sS]ql|unsafe)<[^`(]*?>[`(]/g)
    ),
    breaks: ["packages/domain/src/jobs/JobStore.ts", "sql.unsafe<{ readonly id: string }>(CLAIM)"]
  },
  {
    title: "SQL takes time, ids and chance as parameters",
    instead: "pass $now from Clock and ids from Crypto, so that a simulated run repeats",
    find: perFile(
      (source) => isSource(source) && isSql(source),
      (source) => templatesOf(source).match(FROM_THE_DATABASE) ?? []
    ),
    breaks: ["packages/domain/src/jobs/JobStore.ts", "sql`update jobs set ended_at = now()`"]
  },
  {
    title: "commits of promises wait for the disk",
    instead: "use PgClient or BatchSql; list a store of repeatable observations in RELAXED with its reason",
    find: perFile(
      (source) => isSource(source) && RELAXED[source.path] === undefined,
      (source) => matches(source, /\byield\* RelaxedSql\b/g)
    ),
    breaks: ["packages/domain/src/jobs/JobListStore.ts", "const sql = yield* RelaxedSql"]
  },
  {
    title: "time, chance, environment and terminal enter at the edges",
    instead: "use what the finding names in brackets; a file that can't is listed in ALLOWED with its reason",
    find: perFile(
      (source) => isSource(source) && !isEntry(source) && ALLOWED[source.path] === undefined,
      (source) =>
        BANNED.flatMap(([pattern, instead]) => matches(source, pattern).map((found) => `${found} (${instead})`))
    ),
    breaks: ["packages/server/src/jobs/A.ts", "const now = Date.now()"]
  },
  {
    title: "a failure is a class of Schema.TaggedError",
    instead:
      'declare `class Name extends Schema.TaggedError<Name>()("Name", { ... })` once and fail with `new Name(...)`',
    find: perFile(
      (source) => isSource(source) && PLAIN_ERRORS[source.path] === undefined,
      (source) => [
        ...matches(source, /\bData\.(Tagged)?Error\b/g),
        ...matches(source, /\bclass \w+ extends (Type|Range|Aggregate)?Error\b/g),
        ...matches(source, /\b(Effect|Exit|Result)\.fail(Sync)?\(\s*(\(\) =>\s*)?\(?\{/g)
      ]
    ),
    breaks: ["packages/domain/src/jobs/Jobs.ts", 'Effect.fail({ _tag: "BudgetReached" as const })']
  },
  {
    title: "no state outside services",
    instead: "keep it in a Ref or in the service's own scope: module state outlives a simulated crash",
    find: perFile(
      (source) => isSource(source) && !isEntry(source),
      (source) => matches(source, /^(export )?let .*$/gm)
    ),
    breaks: ["packages/domain/src/jobs/Jobs.ts", "let cache = 1"]
  },
  {
    title: "no test is switched off or alone",
    instead: "repair it or delete it",
    find: perFile(
      ({ path }) => path.endsWith(".test.ts"),
      (source) => matches(source, /\b(it|test|describe)(\.\w+)*\.(only|skip|todo|fails)\(/g)
    ),
    breaks: ["packages/domain/test/jobs/Job.test.ts", 'it.effect.only("x", () => y)']
  }
]
