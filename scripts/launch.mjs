/**
 * Runs the checkout's TypeScript on any host with Node 20: installs missing packages, then starts the Node that
 * package-lock.json pins. Plain JavaScript without a dependency, because nothing is installed yet.
 */
import { spawn, spawnSync } from "node:child_process"
import { existsSync, readFileSync, statSync } from "node:fs"
import { constants } from "node:os"
import { basename, dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

export const root = dirname(dirname(fileURLToPath(import.meta.url)))

/**
 * Flags of every Node process of the checkout.
 *
 * The tiering budget keeps wrappers from WebAssembly to JavaScript generic. V8 shares compiled wrappers among threads and can
 * abort the process ("Check failed: jit_page.has_value()", nodejs/node#64500) when one thread replaces a wrapper that another
 * one uses. The embedded database and the module loader of every thread have such wrappers.
 *
 * Allocation-site pretenuring is off. V8 would learn at start that some code allocates long-lived objects, and then allocate the
 * short-lived objects of requests in the old generation, which leak until a full collection.
 */
export const nodeFlags = ["--wasm-wrapper-tiering-budget=2147483647", "--no-allocation-site-pretenuring"]

/**
 * Runs `node ...args` with the pinned Node. Standard streams are shared and signals are forwarded. This process ends as the
 * child ended: with its exit code, or by its signal.
 */
export const launch = (args, environment = {}) => {
  installMissing()
  // After the two dashes Node takes no flag for itself: --env-file is a flag of ours too.
  const child = spawn(pinnedNode(), [...nodeFlags, "--", ...args], {
    stdio: "inherit",
    env: { ...process.env, ...environment }
  })
  const pass = (signal) => child.kill(signal)
  for (const signal of PASSED_ON) process.on(signal, pass)
  child.on("error", (error) => fail(`${args[0]} can't be started: ${error.message}`))
  child.on("exit", (code, signal) => {
    for (const name of PASSED_ON) process.off(name, pass)
    process.exitCode = code ?? 128 + constants.signals[signal]
    if (signal !== null) process.kill(process.pid, signal)
  })
}

/** The compile cache for children that start often: Node reuses compiled code without types. */
export const compileCache = {
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? join(root, "node_modules", ".cache", "node")
}

const PASSED_ON = ["SIGINT", "SIGTERM", "SIGHUP"]

const fail = (message) => {
  process.stderr.write(`sluice: ${message}\n`)
  process.exit(1)
}

const installMissing = () => {
  if (isInstalled()) return
  process.stderr.write("sluice: installing dependencies with npm ci (about a minute, only now) ...\n")
  const npm = process.env.npm_execpath
  // Packages that need a newer Node run on the pinned one, so npm's engine warnings would mislead.
  const args = ["ci", "--include=dev", "--no-fund", "--no-audit", "--loglevel=error"]
  const options = { cwd: root, stdio: ["ignore", 2, 2] }
  const { status, error } =
    npm !== undefined && basename(npm) === "npm-cli.js"
      ? spawnSync(process.execPath, [npm, ...args], options)
      : spawnSync("npm", args, { ...options, shell: process.platform === "win32" })
  if (status !== 0)
    fail(`npm ci failed${error === undefined ? "" : `: ${error.message}`}. Is the package registry reachable?`)
  // Prepares the files of an empty database. Without them the first start is only slower.
  spawnSync(pinnedNode(), [join(root, "scripts", "prepare.mjs")], { cwd: root, stdio: "ignore", timeout: 60_000 })
}

/** True if node_modules holds the versions of package-lock.json. File times decide if they can; otherwise versions do. */
const isInstalled = () => {
  const wanted = join(root, "package-lock.json")
  const installed = join(root, "node_modules", ".package-lock.json")
  if (!existsSync(installed)) return false
  if (statSync(installed).mtimeMs >= statSync(wanted).mtimeMs) return true
  const present = JSON.parse(readFileSync(installed, "utf8")).packages
  return Object.entries(JSON.parse(readFileSync(wanted, "utf8")).packages).every(([path, entry]) => {
    if (!path.includes("node_modules/") || entry.optional || entry.devOptional) return true
    return present[path] !== undefined && (entry.link || present[path].version === entry.version)
  })
}

const pinnedNode = () => {
  const pinned = join(root, "node_modules", "node", "bin", process.platform === "win32" ? "node.exe" : "node")
  // An interrupted install may leave an empty file, which would run as a program that does nothing and succeeds.
  if (existsSync(pinned) && statSync(pinned).size > 0) return pinned
  if (Number(process.versions.node.split(".")[0]) >= 24) return process.execPath
  return fail(
    "the npm package `node` has no program (were its install scripts refused?); use Node 24, or run npm ci again"
  )
}
