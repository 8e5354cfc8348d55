/** Reads the checkout's sources as data (paths, imports, code without comments) for the architecture test. */
import { readdirSync, readFileSync } from "node:fs"
import { posix, relative, sep } from "node:path"
import { fileURLToPath } from "node:url"

export const root = fileURLToPath(new URL("../../", import.meta.url))

export interface Import {
  readonly specifier: string
  /** True if the import is erased and loads no code. */
  readonly typeOnly: boolean
  /** The imported file of this checkout, if it is one. */
  readonly file: string | undefined
}

export interface Source {
  /** Relative to the root, with `/`. */
  readonly path: string
  /** packages/<this>/..., or the top folder. */
  readonly home: string
  readonly text: string
  /** `text` without comments. */
  readonly code: string
  readonly lines: number
  readonly imports: ReadonlyArray<Import>
}

const FOLDERS = ["packages", "test", "bench", "scripts"]
const SKIPPED = /(^|\/)(node_modules|\.[^/]+|out)(\/|$)/

/** Every source file, without hidden folders and installed packages. */
export const readSources = (): ReadonlyArray<Source> =>
  FOLDERS.flatMap((folder) => readdirSync(root + folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && /\.(ts|mjs)$/.test(entry.name))
    .map((entry) => relative(root, entry.parentPath + sep + entry.name).replaceAll(sep, "/"))
    .filter((path) => !SKIPPED.test(path))
    .sort()
    .map((path) => sourceOf(path, readFileSync(root + path, "utf8")))

export const sourceOf = (path: string, text: string): Source => {
  const code = text.replace(/^[ \t]*\/\*[\s\S]*?\*\//gm, "").replace(/(^|\s)\/\/.*$/gm, "")
  const parts = path.split("/")
  const home = (parts[0] === "packages" ? parts[1] : parts[0]) ?? ""
  return { path, home, text, code, lines: text.trimEnd().split("\n").length, imports: importsOf(path, code) }
}

const STATEMENT =
  /^[ \t]*(?:import|export)\s+(type\s+)?((?:[\w$*]+[\s,]*)?(?:as\s+[\w$]+\s*)?(?:\{[^}]*\})?)\s*from\s*"([^"]+)"/gm
const BARE = /\bimport\s*\(?\s*"([^"]+)"/g

const importsOf = (path: string, code: string): ReadonlyArray<Import> => {
  const found = (specifier: string, typeOnly: boolean) => ({ specifier, typeOnly, file: fileOf(path, specifier) })
  return [
    ...[...code.matchAll(STATEMENT)].map((match) =>
      found(match[3] ?? "", match[1] !== undefined || /^\{(\s*type\s+[\w$ ]+,?)+\s*\}$/.test(match[2] ?? ""))
    ),
    ...[...code.matchAll(BARE)].map((match) => found(match[1] ?? "", false))
  ]
}

/** The two exports that are not named like their file: the test double, and its former address. */
export const DOOR = "packages/simulator/src/Testing.ts"
const NAMED: Readonly<Record<string, string>> = {
  "@sluice/testing": "packages/testing/src/Testing.ts",
  "@sluice/simulator/testing": DOOR
}

const fileOf = (path: string, specifier: string): string | undefined => {
  if (specifier.startsWith(".")) return posix.join(posix.dirname(path), specifier)
  if (NAMED[specifier] !== undefined) return NAMED[specifier]
  const own = /^@sluice\/([a-z-]+)\/(.+)$/.exec(specifier)
  return own === null ? undefined : `packages/${own[1]}/src/${own[2]}.ts`
}

/** Every file that loading `start` loads, each with the file that first imported it. */
export const loadedFrom = (start: Source, byPath: ReadonlyMap<string, Source>): ReadonlyMap<string, string> => {
  const reached = new Map<string, string>()
  const open = [start]
  for (let source = open.pop(); source !== undefined; source = open.pop()) {
    for (const { file, typeOnly } of source.imports) {
      if (typeOnly || file === undefined || reached.has(file)) continue
      reached.set(file, source.path)
      const next = byPath.get(file)
      if (next !== undefined) open.push(next)
    }
  }
  return reached
}

/** Groups of files that import each other, directly or through others, types included (Tarjan's strongly connected components). */
export const importCircles = (sources: ReadonlyArray<Source>): ReadonlyArray<ReadonlyArray<string>> => {
  const byPath = new Map(sources.map((source) => [source.path, source]))
  const order = new Map<string, number>()
  const lowest = new Map<string, number>()
  const open: Array<string> = []
  const circles: Array<ReadonlyArray<string>> = []
  const visit = (path: string): number => {
    order.set(path, order.size)
    lowest.set(path, order.get(path)!)
    open.push(path)
    for (const { file } of byPath.get(path)!.imports) {
      if (file === undefined || !byPath.has(file)) continue
      const reached = order.has(file) ? (open.includes(file) ? order.get(file)! : Infinity) : visit(file)
      lowest.set(path, Math.min(lowest.get(path)!, reached))
    }
    if (lowest.get(path) === order.get(path)) {
      const circle = open.splice(open.indexOf(path))
      if (circle.length > 1) circles.push(circle)
    }
    return lowest.get(path)!
  }
  for (const path of byPath.keys()) if (!order.has(path)) visit(path)
  return circles
}
