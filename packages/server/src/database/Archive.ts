/**
 * Caches the archive from which a new embedded database is unpacked. Creating one and migrating it takes seconds, so
 * the first one made in a checkout is stored under node_modules/.cache, by PGlite's version and the schema's digest.
 * The archive holds no data.
 *
 * A damaged cache file is never used; the archive is made again. Without a writable cache everything works, only
 * slower. Concurrent processes write the same content.
 */
import { randomBytes } from "node:crypto"
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { crc32 } from "node:zlib"

/** Returns the archive `name` from `directory`, or makes and stores it. The caller owns the bytes. */
export const archiveOf = async (
  name: string,
  make: () => Promise<Buffer>,
  directory: string = CACHE
): Promise<Buffer> => {
  const file = join(directory, `pglite-${VERSION}-${name}.image`)
  const cached = readCached(file)
  if (cached !== undefined) return cached
  const bytes = await make()
  store(bytes, file)
  return bytes
}

const PGLITE = dirname(dirname(fileURLToPath(import.meta.resolve("@electric-sql/pglite"))))
/** Another version of PGlite may have other files. */
const { version: VERSION } = JSON.parse(readFileSync(join(PGLITE, "package.json"), "utf8")) as { version: string }
const CACHE = join(dirname(dirname(PGLITE)), ".cache", "sluice")
/**
 * Cached archives: the schema with and without the simulated world's tables, before and after a change of the schema.
 */
const MAX_CACHED = 4
const CHECKSUM_BYTES = 4

const readCached = (file: string): Buffer | undefined => {
  try {
    const all = readFileSync(file)
    const bytes = all.subarray(0, -CHECKSUM_BYTES)
    return crc32(bytes) === all.readUInt32BE(bytes.length) ? bytes : undefined
  } catch {
    return undefined
  }
}

/** Writes to a temporary name and renames, because several processes may do this at once. */
const store = (bytes: Buffer, file: string): void => {
  const temporary = `${file}.${randomBytes(4).toString("hex")}`
  try {
    const directory = dirname(file)
    mkdirSync(directory, { recursive: true })
    const checksum = Buffer.alloc(CHECKSUM_BYTES)
    checksum.writeUInt32BE(crc32(bytes))
    writeFileSync(temporary, Buffer.concat([bytes, checksum]))
    renameSync(temporary, file)
    evictOld(directory)
  } catch {
    // The next database is then made without the cache.
    remove(temporary)
  }
}

/** Removes a partly written file, such as one on a full disk. */
const remove = (file: string): void => {
  try {
    rmSync(file, { force: true })
  } catch {
    // A file that can't be removed does no harm.
  }
}

const evictOld = (directory: string): void => {
  const all = readdirSync(directory)
    .filter((name) => name.startsWith("pglite-"))
    .map((name) => ({ path: join(directory, name), at: statSync(join(directory, name)).mtimeMs }))
  for (const { path } of all.sort((a, b) => b.at - a.at).slice(MAX_CACHED)) rmSync(path, { force: true })
}
