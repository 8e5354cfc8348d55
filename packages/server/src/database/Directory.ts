/** Creates the server's directories and their missing parents, accessible only to the server's user. */
import { existsSync, mkdirSync, statSync } from "node:fs"
import { dirname } from "node:path"

/**
 * Creates the missing directories of a path, and throws the system's error where that fails. Node's own recursive mkdir
 * retries for ever where a parent reports that it does not exist and takes no entries, as below /proc.
 */
export const makeDirectory = (path: string): void => {
  const parent = dirname(path)
  if (parent !== path && !existsSync(parent)) makeDirectory(parent)
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    if (isDirectory(path) !== true) throw error
  }
}

/** True where the path exists and is no directory. */
export const isFile = (path: string): boolean => isDirectory(path) === false

/** Undefined where the path does not exist or can't be inspected. */
const isDirectory = (path: string): boolean | undefined => {
  try {
    return statSync(path).isDirectory()
  } catch {
    return undefined
  }
}
