/**
 * Locks the data directory for one process. PGlite does not check this itself, and two processes on one directory lose
 * rows.
 *
 * The lock is a file with the holder's pid and start time, so a reused pid does not count as the holder. The file of a
 * dead holder is taken over. A holder that can't be looked up (another container on the same volume) proves that it
 * lives by touching the file. A holder that was paused for long may have lost the lock, so it checks the file before it
 * continues. The lock is released with the scope.
 */
import { Clock, Duration, Effect, Schema } from "effect"
import type { Scope } from "effect"
import { readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { DataDirectoryInUse, DataDirectoryUnusable } from "./DatabaseErrors.ts"
import { processIdentity } from "./ProcessIdentity.ts"

export interface DataLock {
  /** False once another process has the directory. Reads only the clock while the heartbeat runs. */
  readonly isHeld: () => boolean
}

/**
 * Holds `directory` for this process until the scope closes. The directory must exist. Fails where another process
 * holds it or where its files can't be used.
 */
export const lockDataDirectory = (
  directory: string
): Effect.Effect<DataLock, DataDirectoryInUse | DataDirectoryUnusable, Scope.Scope> =>
  Effect.gen(function* () {
    const clock = yield* Clock.Clock
    const file = join(directory, LOCK_FILE)
    const me = processIdentity(process.pid)
    const mine = JSON.stringify({ pid: process.pid, ...me })
    yield* Effect.acquireRelease(acquire(directory, file, mine, me.place), () => Effect.sync(() => release(file, mine)))
    let hasLock = true
    let beatAt = clock.currentTimeMillisUnsafe()
    const beat = () => {
      beatAt = clock.currentTimeMillisUnsafe()
      hasLock &&= isOurs(file, mine)
      if (hasLock) touch(file, beatAt)
    }
    yield* Effect.sync(beat).pipe(Effect.andThen(Effect.sleep(HEARTBEAT)), Effect.forever, Effect.forkScoped)
    return {
      isHeld: () => {
        if (clock.currentTimeMillisUnsafe() - beatAt > PAUSED_MS) beat()
        return hasLock
      }
    }
  })

const LOCK_FILE = "sluice.lock"
const HEARTBEAT = Duration.seconds(5)
/**
 * A lock file that was not touched for this long has no living holder on another host. It is four missed heartbeats.
 */
const STALE_AFTER_MS = 20_000
/** After a pause of this length, another process may have taken the lock. It is half of `STALE_AFTER_MS`. */
const PAUSED_MS = 10_000
/** Long enough to see a living holder's heartbeat. */
const WATCH_TIME = Duration.seconds(6)
/** Each round takes the lock, finds it held, or removes the file of one dead holder. */
const MAX_ROUNDS = 10

class Holder extends Schema.Class<Holder>("Holder")({
  pid: Schema.Int,
  place: Schema.String,
  startedAt: Schema.String
}) {}
const decodeHolder = Schema.decodeUnknownOption(Schema.fromJsonString(Holder))

const acquire = Effect.fnUntraced(function* (directory: string, file: string, mine: string, here: string) {
  const unusable = (cause: unknown) =>
    new DataDirectoryUnusable({ directory, reason: cause instanceof Error ? cause.message : "unknown" })
  const attempt = <A>(work: () => A) => Effect.try({ try: work, catch: unusable })
  for (let round = 0; round < MAX_ROUNDS; round++) {
    if (yield* attempt(() => createExclusive(file, mine))) return
    const seen = yield* attempt(() => contentOf(file))
    if (seen === undefined) continue
    const holder = decodeHolder(seen)
    const now = yield* Clock.currentTimeMillis
    const alive =
      holder._tag === "Some" && holder.value.place === here
        ? processIdentity(holder.value.pid).startedAt === holder.value.startedAt
        : now - touchedAt(file) < STALE_AFTER_MS || (yield* isTouched(file))
    if (alive) {
      const pid = holder._tag === "Some" ? holder.value.pid : 0
      return yield* new DataDirectoryInUse({ directory, pid, lockFile: file })
    }
    yield* attempt(() => removeDead(file, seen))
  }
  return yield* new DataDirectoryInUse({ directory, pid: 0, lockFile: file })
})

/** True where a holder touches the file now. A holder whose clock is far behind writes times that look stale. */
const isTouched = Effect.fnUntraced(function* (file: string) {
  const before = touchedAt(file)
  yield* Effect.sleep(WATCH_TIME)
  return touchedAt(file) !== before
})

/** True if the file did not exist and now holds `content`. */
const createExclusive = (file: string, content: string): boolean => {
  try {
    writeFileSync(file, content, { flag: "wx", mode: 0o600, flush: true })
    return true
  } catch (cause) {
    if (isCode(cause, "EEXIST")) return false
    // The file was created, but the disk had no room for its content, so no process holds the lock.
    if (contentOf(file) === "") rmSync(file, { force: true })
    throw cause
  }
}

/** A file that can't be read does not count as another holder's. A file that is gone is created again. */
const isOurs = (file: string, mine: string): boolean => {
  try {
    const seen = contentOf(file)
    return seen === mine || (seen === undefined && createExclusive(file, mine))
  } catch {
    return true
  }
}

const contentOf = (file: string): string | undefined => {
  try {
    return readFileSync(file, "utf8")
  } catch (cause) {
    if (isCode(cause, "ENOENT")) return undefined
    throw cause
  }
}

/**
 * Moves the file aside first: when two processes both saw the dead holder, only one removes that file. A new lock that
 * was moved by mistake is put back.
 */
const removeDead = (file: string, seen: string): void => {
  const aside = `${file}.${process.pid}`
  try {
    renameSync(file, aside)
  } catch (cause) {
    if (isCode(cause, "ENOENT")) return
    throw cause
  }
  const moved = contentOf(aside)
  if (moved !== undefined && moved !== seen) createExclusive(file, moved)
  rmSync(aside, { force: true })
}

const release = (file: string, mine: string): void => {
  if (contentOf(file) === mine) rmSync(file, { force: true })
}

const touchedAt = (file: string): number => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0

const touch = (file: string, now: number): void => {
  try {
    utimesSync(file, now / 1000, now / 1000)
  } catch {
    // The directory is gone: there is nothing left to protect.
  }
}

const isCode = (cause: unknown, code: string): boolean =>
  cause instanceof Error && "code" in cause && cause.code === code
