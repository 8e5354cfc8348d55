/**
 * Where files of forms are kept while they come: in the system's directory for temporary ones. That it takes none is told to
 * the operator; callers only hear that they may come again.
 */
import { Effect } from "effect"
import { mkdtempSync, rmdirSync, statfsSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/**
 * Looks whether files can be kept, and how many bytes are free: 0 where nobody says. Neither keeps the server from serving.
 * At once: the socket listens meanwhile, and what comes before there is somebody to answer is never answered.
 */
export const spoolBytes: Effect.Effect<number> = Effect.gen(function* () {
  yield* Effect.try(() => rmdirSync(mkdtempSync(join(tmpdir(), "sluice-")))).pipe(
    Effect.catch((error) => Effect.logWarning(refusal(error)))
  )
  const disk = Effect.try(() => statfsSync(tmpdir()))
  return yield* Effect.orElseSucceed(
    Effect.map(disk, ({ bavail, bsize }) => bavail * bsize),
    () => 0
  )
})

/** A file that came could not be kept. */
export const notSpooled = (error: unknown): Effect.Effect<void> => Effect.logError(refusal(error))

const refusal = (error: unknown): string =>
  `Files of forms can't be kept in ${tmpdir()} (${codeOf(error)}): each is answered with 503. TMPDIR names another directory`

/** The system's code, somewhere below what others say. */
const codeOf = (error: unknown): string => {
  if (!(error instanceof Error)) return "unknown"
  return "code" in error && typeof error.code === "string" ? error.code : codeOf(error.cause)
}
