/**
 * How does an embedded database come to its files? An existing directory is opened. A new one is made beside its place
 * and moved there when it is whole, so a crash in the middle leaves nothing half made.
 *
 * Making one from nothing and bringing it to the newest schema takes seconds; the first one made in a checkout is kept
 * under node_modules/.cache as an image from which later ones are copied. It holds no data, and without it all works, only
 * slower.
 */
import { MemoryFS, PGlite } from "@electric-sql/pglite"
import { randomBytes } from "node:crypto"
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { entriesOf } from "./Tar.ts"

/** What a new database is to be. */
export interface Image {
  /** Says all that `prepare` depends on: another one is made anew. */
  readonly name: string
  readonly prepare: (db: PGlite) => Promise<void>
}

/** Opens the database in `directory`, or makes it. The caller holds the directory's lock. */
export const openDirectory = async (directory: string, image: Image): Promise<PGlite> => {
  if (!existsSync(directory)) {
    const unfinished = `${directory}.new`
    rmSync(unfinished, { recursive: true, force: true })
    unpack(await archiveOf(image), unfinished)
    renameSync(unfinished, directory)
  }
  return PGlite.create(directory)
}

export const openMemory = async (image: Image): Promise<PGlite> =>
  PGlite.create({ fs: new ArchiveFs(await archiveOf(image)), startParams: SMALL })

/** All is in memory already: a large cache of it would only take time to clear. */
const SMALL = [...PGlite.defaultStartParams, "-c", "shared_buffers=16MB"]

const pglite = (): string => dirname(fileURLToPath(import.meta.resolve("@electric-sql/pglite")))

const unpack = (archive: Buffer, directory: string): void => {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
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

const archiveOf = async (image: Image): Promise<Buffer> => {
  const archive = archiveFile(image)
  if (existsSync(archive)) return readFileSync(archive)
  const db = await PGlite.create("memory://")
  await image.prepare(db)
  // What is in the log would be done again at each start.
  await db.exec("checkpoint")
  const bytes = Buffer.from(await (await db.dumpDataDir("none")).arrayBuffer())
  await db.close()
  keep(bytes, archive)
  return bytes
}

/** The image of exactly the installed version of PGlite: another version may have other files. */
const archiveFile = ({ name }: Image): string => {
  const home = dirname(pglite())
  const { version } = JSON.parse(readFileSync(join(home, "package.json"), "utf8")) as { readonly version: string }
  return join(dirname(dirname(home)), ".cache", "sluice", `pglite-${version}-${name}.tar`)
}

/** Written aside and moved, as several processes may do this at once. A read-only checkout just has none. */
const keep = (bytes: Buffer, archive: string): void => {
  try {
    const directory = dirname(archive)
    mkdirSync(directory, { recursive: true })
    const written = `${archive}.${randomBytes(4).toString("hex")}`
    writeFileSync(written, bytes)
    const older = readdirSync(directory).filter((name) => name.endsWith(".tar"))
    renameSync(written, archive)
    for (const name of older) rmSync(join(directory, name), { force: true })
  } catch {
    // The next database is then made from nothing, too.
  }
}
