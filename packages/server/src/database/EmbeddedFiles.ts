/**
 * How does an embedded database come to its files? An existing directory is opened. A new one is made beside its place
 * and moved there when it is whole, so a crash in the middle leaves nothing half made.
 *
 * What a new one begins as is unpacked from an archive (`Archive.ts`). All are alike: their segments of the log are small,
 * and the templates of further databases, which nobody makes, are gone. So one takes 9 MB, not 41.
 */
import { MemoryFS, PGlite, type PGliteOptions } from "@electric-sql/pglite"
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { archiveOf } from "./Archive.ts"
import { makeDirectory } from "./Directory.ts"
import { trimDatabase } from "./DatabaseTrimStore.ts"
import { entriesOf } from "./Tar.ts"

/** What a new database is to be. */
export interface Image {
  /** Says all that `prepare` depends on: another one is made anew. */
  readonly name: string
  readonly prepare: (db: PGlite) => Promise<void>
}

export interface Opened {
  readonly db: PGlite
  /** It was just made, so nothing of its schema is missing. */
  readonly isNewest: boolean
}

/** PostgreSQL's own by name. */
export type Settings = Readonly<Record<string, string>>

/** Opens the database in `directory`, or makes it. The caller holds the directory's lock. */
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
 * PostgreSQL's cache is cleared at each start, and what is cleared takes room: its 128 MB would be a tenth of a start. What is
 * not in it is in the cache of the system, or in memory anyhow.
 */
const ON_DISK: Settings = { shared_buffers: "32MB" }
const IN_MEMORY: Settings = { shared_buffers: "16MB" }

const parameters = (settings: Settings): Array<string> => [
  ...PGlite.defaultStartParams,
  ...Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`])
]

const open = async (options: PGliteOptions): Promise<PGlite> => {
  const db = new Plain(options)
  await db.waitReady
  return db
}

/** Without a look at all types at each start, for parsers of arrays that nobody asks: clients parse by themselves. */
class Plain extends PGlite {
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

/** A segment of 1 MB, and none that waits to be used again. */
const SMALL_LOG = ["--wal-segsize=1", "-c", "wal_recycle=off"]

const unpack = (archive: Buffer, directory: string): void => {
  makeDirectory(directory)
  for (const { bytes, mode, path } of entriesOf(archive)) {
    if (bytes === undefined) mkdirSync(directory + path, { recursive: true, mode })
    else writeFileSync(directory + path, bytes, { mode })
  }
}

/** Files in memory that begin as those of an archive. */
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
      // The file owns its part of the archive from here on: nothing is copied.
      else FS.writeFile(DATA + path, bytes, { canOwn: true })
    }
  }
}
/** Where PGlite's program looks for its data. */
const DATA = "/pglite/data"
