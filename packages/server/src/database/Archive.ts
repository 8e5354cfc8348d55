/**
 * Where is the archive that a new embedded database is unpacked from? Making one from nothing and bringing it to the newest
 * schema takes seconds; the first one made in a checkout is kept under node_modules/.cache, by PGlite's version and the
 * schema's digest. It holds no data.
 *
 * A kept one that is not whole is never used: it is made again. Where none can be kept all works, only slower. Processes
 * that make one at the same time make the same.
 */
import { randomBytes } from "node:crypto"
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { crc32 } from "node:zlib"

/** The archive of that name, kept in `directory`; made where it is missing. Its bytes are the caller's own. */
export const archiveOf = async (
  name: string,
  make: () => Promise<Buffer>,
  directory: string = CACHE
): Promise<Buffer> => {
  const file = join(directory, `pglite-${VERSION}-${name}.image`)
  const kept = read(file)
  if (kept !== undefined) return kept
  const bytes = await make()
  keep(bytes, file)
  return bytes
}

const PGLITE = dirname(dirname(fileURLToPath(import.meta.resolve("@electric-sql/pglite"))))
/** Another version of PGlite may have other files. */
const { version: VERSION } = JSON.parse(readFileSync(join(PGLITE, "package.json"), "utf8")) as { version: string }
const CACHE = join(dirname(dirname(PGLITE)), ".cache", "sluice")
/** A schema with and one without the simulated world's tables, before a change and after it. */
const MAX_KEPT = 4
const CHECKSUM_BYTES = 4

const read = (file: string): Buffer | undefined => {
  try {
    const all = readFileSync(file)
    const bytes = all.subarray(0, -CHECKSUM_BYTES)
    return crc32(bytes) === all.readUInt32BE(bytes.length) ? bytes : undefined
  } catch {
    return undefined
  }
}

/** Written aside and moved, as several processes may do this at once. */
const keep = (bytes: Buffer, file: string): void => {
  const written = `${file}.${randomBytes(4).toString("hex")}`
  try {
    const directory = dirname(file)
    mkdirSync(directory, { recursive: true })
    const checksum = Buffer.alloc(CHECKSUM_BYTES)
    checksum.writeUInt32BE(crc32(bytes))
    writeFileSync(written, Buffer.concat([bytes, checksum]))
    renameSync(written, file)
    forgetOld(directory)
  } catch {
    // The next database is then made from nothing, too.
    remove(written)
  }
}

/** What is left of a disk that was full; where nothing could be written there is nothing. */
const remove = (file: string): void => {
  try {
    rmSync(file, { force: true })
  } catch {
    // It is in nobody's way.
  }
}

const forgetOld = (directory: string): void => {
  const all = readdirSync(directory)
    .filter((name) => name.startsWith("pglite-"))
    .map((name) => ({ path: join(directory, name), at: statSync(join(directory, name)).mtimeMs }))
  for (const { path } of all.sort((a, b) => b.at - a.at).slice(MAX_KEPT)) rmSync(path, { force: true })
}
