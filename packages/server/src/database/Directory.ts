/** Directories of ours: for nobody else, with those above them. */
import { existsSync, mkdirSync, statSync } from "node:fs"
import { dirname } from "node:path"

/**
 * Makes what is missing of a path; throws what the system says where that can't be. Node's own way tries for ever where a
 * directory takes no other one and says that it is not there, as below /proc.
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

/** Something stands at this path, and it is no directory. */
export const isFile = (path: string): boolean => isDirectory(path) === false

/** Undefined where nothing stands, and where nobody lets us look. */
const isDirectory = (path: string): boolean | undefined => {
  try {
    return statSync(path).isDirectory()
  } catch {
    return undefined
  }
}
