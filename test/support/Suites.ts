/**
 * The two suites: the quick one for each change, and the deep one of the long kinds, whose files end in `.deep.test.ts`.
 *
 * A deep file runs where the deep suite is asked for, or where an argument names it. Everything else runs quick files alone.
 */
const ALL = ["packages/*/test/**/*.test.ts", "test/**/*.test.ts"]
const DEEP = ["packages/*/test/**/*.deep.test.ts", "test/**/*.deep.test.ts"]
const NEVER = ["**/node_modules/**"]

/** Vitest's `include` and `exclude`; `suite` is "deep" or absent, `args` are those of the command line. */
export const filesToRun = (suite: string | undefined, args: ReadonlyArray<string>) => {
  if (suite === "deep") return { include: DEEP, exclude: NEVER }
  const isNamed = args.some((arg) => arg.includes(".deep"))
  return { include: ALL, exclude: isNamed ? NEVER : [...NEVER, ...DEEP] }
}
