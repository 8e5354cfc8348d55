/**
 * How does an embedded database come to its files? An existing directory is opened. A new one is made beside its place
 * and moved there when it is whole, so a crash in the middle leaves nothing half made.
 *
 * Making one from nothing takes seconds; the first one made in a checkout is kept under node_modules/.cache as an archive
 * from which later ones are unpacked in a fraction of that. It holds no data, and without it all works, only slower.
 */
import { PGlite } from "@electric-sql/pglite"
import { randomBytes } from "node:crypto"
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

/** Opens the database in `directory`, or makes it. The caller holds the directory's lock. */
export const openDirectory = async (directory: string): Promise<PGlite> => {
  if (!existsSync(directory)) {
    const unfinished = `${directory}.new`
    rmSync(unfinished, { recursive: true, force: true })
    await (await makeNew(unfinished)).close()
    renameSync(unfinished, directory)
  }
  return PGlite.create(directory)
}

export const openMemory = (): Promise<PGlite> => makeNew("memory://")

const makeNew = async (dataDir: string): Promise<PGlite> => {
  const archive = archiveFile()
  if (existsSync(archive)) return PGlite.create({ dataDir, loadDataDir: new Blob([readFileSync(archive)]) })
  const db = await PGlite.create(dataDir)
  await keep(db, archive)
  return db
}

/** The archive of exactly the installed version of PGlite: another version may have other files. */
const archiveFile = (): string => {
  const pglite = dirname(dirname(fileURLToPath(import.meta.resolve("@electric-sql/pglite"))))
  const { version } = JSON.parse(readFileSync(join(pglite, "package.json"), "utf8")) as { readonly version: string }
  return join(dirname(dirname(pglite)), ".cache", "sluice", `pglite-${version}.tar`)
}

/** Written aside and moved, as several processes may do this at once. A read-only checkout just has none. */
const keep = async (db: PGlite, archive: string): Promise<void> => {
  try {
    mkdirSync(dirname(archive), { recursive: true })
    const written = `${archive}.${randomBytes(4).toString("hex")}`
    const bytes = await (await db.dumpDataDir("none")).arrayBuffer()
    writeFileSync(written, new Uint8Array(bytes))
    renameSync(written, archive)
  } catch {
    // The next database is then made from nothing, too.
  }
}
