/**
 * Stores files of forms while they arrive, in this server's own directory below the system's directory for temporary
 * files. The directory's name identifies the process, so that a later start finds what a killed server left. Failures
 * are logged for the operator; callers get a 503.
 */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Clock, Context, Crypto, Effect, FileSystem, Layer } from "effect"
import { createHash } from "node:crypto"
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, rmdirSync, rmSync, type Stats, statfsSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { inWallTime } from "../clock/WallTime.ts"
import { processIdentity, type ProcessIdentity } from "../database/ProcessIdentity.ts"

/** A file system whose temporary directories are inside this server's directory. */
export class Spool extends Context.Service<Spool, FileSystem.FileSystem>()("@sluice/server/http/Spool") {
  static readonly layer = Layer.effect(
    Spool,
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const newId = Effect.orDie((yield* Crypto.Crypto).randomUUIDv7())
      const prefix = spoolName(process.pid, processIdentity(process.pid))
      removeOrphans(yield* inWallTime(Clock.currentTimeMillis))
      let name = prefix
      let mode: number | undefined
      const path = () => join(tmpdir(), name)
      const isThere = () => mode !== undefined && mode === ownDirectory(path())?.mode
      yield* Effect.addFinalizer(() => Effect.sync(() => isThere() && remove(path())))
      // Created for the first form, and again after another program removed it. The new name is unpredictable, because
      // another user may have created the old one by then.
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

/**
 * Returns the prefix of a process's directory names. No two processes share it, also with pids of different containers.
 */
export const spoolName = (pid: number, { place, startedAt }: ProcessIdentity): string =>
  `${spoolPlace(pid, place)}${digest(startedAt)}-`

const spoolPlace = (pid: number, place: string) => `sluice-forms-${pid}-${digest(place)}-`
const digest = (text: string) => createHash("sha256").update(text).digest("hex").slice(0, 16)

/** Longer than any upload takes: a directory unchanged for this long is in use by no server. */
const ORPHAN_AFTER_MS = 3_600_000

/** Removes directories of killed servers. A pid of another container can't be looked up; there the age decides. */
const removeOrphans = (nowMs: number): void => {
  const known = new Map<number, ProcessIdentity>()
  for (const name of namesIn(tmpdir())) {
    const pid = Number(/^sluice-forms-([1-9]\d*)-/.exec(name)?.[1])
    const path = join(tmpdir(), name)
    const found = Number.isNaN(pid) ? undefined : ownDirectory(path)
    if (found === undefined) continue
    const now = known.get(pid) ?? processIdentity(pid)
    known.set(pid, now)
    const isHere = name.startsWith(spoolPlace(pid, now.place))
    if (isHere ? !name.startsWith(spoolName(pid, now)) : nowMs - found.mtimeMs > ORPHAN_AFTER_MS) remove(path)
  }
}

const namesIn = (directory: string): ReadonlyArray<string> => {
  try {
    return readdirSync(directory)
  } catch {
    return []
  }
}

/**
 * Undefined where the path is no directory or belongs to another user: every user may write to a directory for
 * temporary files.
 */
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
    // The following write reports the failure.
  }
}

const remove = (path: string): void => {
  try {
    rmSync(path, { recursive: true, force: true })
  } catch {
    // The directory belongs to another user, or the disk failed. Nothing depends on it.
  }
}

/**
 * Checks that files can be stored, and returns the free bytes; 0 where they are unknown. The server starts in either
 * case. Runs synchronously: the socket is listening, and a request that arrives before the router is built is never
 * answered.
 */
export const spoolBytes: Effect.Effect<number> = Effect.gen(function* () {
  yield* Effect.try(() => rmdirSync(mkdtempSync(join(tmpdir(), "sluice-")))).pipe(
    Effect.catch((error) => Effect.logWarning(failureMessage(error)))
  )
  const disk = Effect.try(() => statfsSync(tmpdir()))
  return yield* Effect.orElseSucceed(
    Effect.map(disk, ({ bavail, bsize }) => bavail * bsize),
    () => 0
  )
})

/** Logs that the file of a form could not be stored. */
export const logSpoolFailure = (error: unknown): Effect.Effect<void> => Effect.logError(failureMessage(error))

const failureMessage = (error: unknown): string =>
  `Uploaded files can't be stored in ${tmpdir()} (${codeOf(error)}): every upload is answered with 503. Set TMPDIR to another directory`

/** Returns the system's error code, from the innermost causes where needed. */
const codeOf = (error: unknown): string => {
  if (!(error instanceof Error)) return "unknown"
  return "code" in error && typeof error.code === "string" ? error.code : codeOf(error.cause)
}
