/**
 * Where files of forms are kept while they come: in a directory of this server's in the system's one for temporary ones, so
 * that a later start can tell what a killed server left there. That it takes none is told to the operator; callers only hear
 * that they may come again.
 */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Clock, Context, Crypto, Effect, FileSystem, Layer } from "effect"
import { createHash } from "node:crypto"
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, rmdirSync, rmSync, type Stats, statfsSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { inWallTime } from "../clock/WallTime.ts"
import { processIdentity, type ProcessIdentity } from "../database/ProcessIdentity.ts"

/** All files, with temporary directories in this server's own. */
export class Spool extends Context.Service<Spool, FileSystem.FileSystem>()("@sluice/server/http/Spool") {
  static readonly layer = Layer.effect(
    Spool,
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const newId = Effect.orDie((yield* Crypto.Crypto).randomUUIDv7())
      const prefix = spoolName(process.pid, processIdentity(process.pid))
      removeLeft(yield* inWallTime(Clock.currentTimeMillis))
      let name = prefix
      let mode: number | undefined
      const path = () => join(tmpdir(), name)
      const isThere = () => mode !== undefined && mode === ownDirectory(path())?.mode
      yield* Effect.addFinalizer(() => Effect.sync(() => isThere() && remove(path())))
      // It is made with the first form, and again where somebody cleaned up meanwhile: by a name that nobody could know, as
      // what has the old one by then may be anybody's.
      const directory = Effect.map(newId, (id) => {
        if (isThere()) return path()
        name = prefix + id
        make(path())
        mode = ownDirectory(path())?.mode
        return path()
      })
      return {
        ...files,
        makeTempDirectoryScoped: () =>
          Effect.flatMap(directory, (directory) => files.makeTempDirectoryScoped({ directory }))
      }
    })
  ).pipe(Layer.provide(NodeFileSystem.layer))
}

/** How the directories of a process begin: two processes never share it, wherever their pids count. */
export const spoolName = (pid: number, { place, startedAt }: ProcessIdentity): string =>
  `${spoolPlace(pid, place)}${digest(startedAt)}-`

const spoolPlace = (pid: number, place: string) => `sluice-forms-${pid}-${digest(place)}-`
const digest = (text: string) => createHash("sha256").update(text).digest("hex").slice(0, 16)

/** Longer than any form takes: what nothing was put into or taken from for so long, nobody uses. */
const LEFT_AFTER_MS = 3_600_000

/** Removes what servers left that were killed. One whose pid counts elsewhere, as in a container, can't be looked up. */
const removeLeft = (nowMs: number): void => {
  const known = new Map<number, ProcessIdentity>()
  for (const name of namesIn(tmpdir())) {
    const pid = Number(/^sluice-forms-([1-9]\d*)-/.exec(name)?.[1])
    const path = join(tmpdir(), name)
    const found = Number.isNaN(pid) ? undefined : ownDirectory(path)
    if (found === undefined) continue
    const now = known.get(pid) ?? processIdentity(pid)
    known.set(pid, now)
    const isHere = name.startsWith(spoolPlace(pid, now.place))
    if (isHere ? !name.startsWith(spoolName(pid, now)) : nowMs - found.mtimeMs > LEFT_AFTER_MS) remove(path)
  }
}

const namesIn = (directory: string): ReadonlyArray<string> => {
  try {
    return readdirSync(directory)
  } catch {
    return []
  }
}

/** Nothing where it is no directory, or somebody else's: anybody may put anything into a directory for temporary files. */
const ownDirectory = (path: string): Stats | undefined => {
  try {
    const found = lstatSync(path)
    return found.isDirectory() && found.uid === (process.getuid?.() ?? found.uid) ? found : undefined
  } catch {
    return undefined
  }
}

const make = (path: string): void => {
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch {
    // Told by whoever is to put something there.
  }
}

const remove = (path: string): void => {
  try {
    rmSync(path, { recursive: true, force: true })
  } catch {
    // Somebody else's, or the disk's doing: nothing depends on it.
  }
}

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
