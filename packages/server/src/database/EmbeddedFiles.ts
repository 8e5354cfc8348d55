/**
 * Opens the files of an embedded database, or creates them. A new database is written beside its final place and
 * renamed when it is complete, so a crash leaves no partial database.
 *
 * New databases are unpacked from an archive (`Archive.ts`). The archive has small segments of the write-ahead log and
 * no template databases, so a new database takes 9 MB instead of 41.
 */
import { MemoryFS, PGlite, type PGliteOptions } from "@electric-sql/pglite"
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { archiveOf } from "./Archive.ts"
import { makeDirectory } from "./Directory.ts"
import { trimDatabase } from "./DatabaseTrimStore.ts"
import { entriesOf } from "./Tar.ts"

/** The content of a new database. */
export interface Image {
  /** A name that changes with everything that `prepare` depends on. A new name makes a new archive. */
  readonly name: string
  readonly prepare: (db: PGlite) => Promise<void>
}

export interface Opened {
  readonly db: PGlite
  /** The database was just created, so it needs no migration. */
  readonly isNewest: boolean
}

/** Names and values of PostgreSQL's own settings. */
export type Settings = Readonly<Record<string, string>>

/** Opens the database in `directory`, or creates it. The caller must hold the directory's lock. */
export const openDirectory = async (directory: string, image: Image, settings: Settings): Promise<Opened> => {
  const isNewest = !existsSync(directory)
  if (isNewest) {
    const unfinished = `${directory}.new`
    rmSync(unfinished, { recursive: true, force: true })
    unpack(await archive(image), unfinished)
    renameSync(unfinished, directory)
  }
  return { db: await open({ dataDir: directory, startParams: parameters({ ...settings, ...ON_DISK }) }), isNewest }
}

export const openMemory = async (image: Image, settings: Settings): Promise<Opened> => {
  const fs = new ArchiveFs(await archive(image))
  return { db: await open({ fs, startParams: parameters({ ...settings, ...IN_MEMORY }) }), isNewest: true }
}

/**
 * PostgreSQL clears its cache at each start; the default of 128 MB would take a tenth of the start. Pages outside it
 * are in the system's page cache, or in memory anyway.
 */
const ON_DISK: Settings = { shared_buffers: "32MB" }
const IN_MEMORY: Settings = { shared_buffers: "16MB" }

const parameters = (settings: Settings): Array<string> => [
  ...PGlite.defaultStartParams,
  ...Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`])
]

const open = async (options: PGliteOptions): Promise<PGlite> => {
  const db = new PlainPGlite(options)
  await db.waitReady
  return db
}

/**
 * Skips PGlite's query of all types at each start. It serves array parsers that nothing uses: clients parse by
 * themselves.
 */
class PlainPGlite extends PGlite {
  override async _initArrayTypes(): Promise<void> {}
}

const archive = (image: Image): Promise<Buffer> =>
  archiveOf(image.name, async () => {
    const db = await open({ dataDir: "memory://", initDbStartParams: SMALL_LOG })
    await image.prepare(db)
    await trimDatabase(db)
    const bytes = Buffer.from(await (await db.dumpDataDir("none")).arrayBuffer())
    await db.close()
    return bytes
  })

/** Log segments of 1 MB, and no segment kept for reuse. */
const SMALL_LOG = ["--wal-segsize=1", "-c", "wal_recycle=off"]

const unpack = (archive: Buffer, directory: string): void => {
  makeDirectory(directory)
  for (const { bytes, mode, path } of entriesOf(archive)) {
    if (bytes === undefined) mkdirSync(directory + path, { recursive: true, mode })
    else writeFileSync(directory + path, bytes, { mode })
  }
}

/** A file system in memory that starts with the files of an archive. */
class ArchiveFs extends MemoryFS {
  private readonly archive: Buffer

  constructor(archive: Buffer) {
    super()
    this.archive = archive
  }

  override async initialSyncFs(): Promise<void> {
    const { FS } = this.pg!.Module
    for (const { bytes, mode, path } of entriesOf(this.archive)) {
      if (bytes === undefined) FS.mkdirTree(DATA + path, mode)
      // The file takes over its part of the archive, so nothing is copied.
      else FS.writeFile(DATA + path, bytes, { canOwn: true })
    }
  }
}
/** The directory in which PGlite's program looks for its data. */
const DATA = "/pglite/data"
