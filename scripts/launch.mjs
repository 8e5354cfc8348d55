/**
 * How does the checkout run its own TypeScript on whatever Node the host has? Installs what is missing, then starts the
 * Node that package-lock.json pins. Plain JavaScript for Node 20 and newer, and no dependency: nothing is installed yet.
 */
import { spawn, spawnSync } from "node:child_process"
import { existsSync, readFileSync, statSync } from "node:fs"
import { constants } from "node:os"
import { basename, dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

export const root = dirname(dirname(fileURLToPath(import.meta.url)))

/**
 * Flags of every Node of the checkout.
 *
 * V8 shares the bridges that it compiles from WebAssembly to JavaScript among threads, and now and then aborts the process
 * ("Check failed: jit_page.has_value()", nodejs/node#64500) where one thread replaces what another uses. The embedded database
 * and the loader of every thread have such bridges: so they stay generic.
 *
 * V8 notes which places of the code make objects that stay, and makes theirs among the old ones from then on. A start makes much
 * that stays, by the same code that later makes what a request needs for a moment: all of that would outlive its time, with
 * whatever it holds, until the whole heap is gone through. So every object begins young.
 */
export const nodeFlags = ["--wasm-wrapper-tiering-budget=2147483647", "--no-allocation-site-pretenuring"]

/**
 * Runs `node ...args` with the pinned Node, standard streams shared, signals passed on, and ends this process the way
 * the child ended: with its exit code, or by its signal.
 */
export const launch = (args, environment = {}) => {
  installMissing()
  // After the two dashes Node takes no flag for its own: --env-file is one of ours as well.
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

/** For a child that starts often: what Node compiled and stripped of types once is read the next time. */
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
  // Packages that want a newer Node than the host's get it: npm's warnings of that would only worry people.
  const args = ["ci", "--include=dev", "--no-fund", "--no-audit", "--loglevel=error"]
  const options = { cwd: root, stdio: ["ignore", 2, 2] }
  const { status, error } =
    npm !== undefined && basename(npm) === "npm-cli.js"
      ? spawnSync(process.execPath, [npm, ...args], options)
      : spawnSync("npm", args, { ...options, shell: process.platform === "win32" })
  if (status !== 0)
    fail(`npm ci failed${error === undefined ? "" : `: ${error.message}`}. Is the package registry reachable?`)
  // Prepares the files of an empty database, so that the first start need not; without them it is only slower.
  spawnSync(pinnedNode(), [join(root, "scripts", "prepare.mjs")], { cwd: root, stdio: "ignore", timeout: 60_000 })
}

/** Whether node_modules holds what package-lock.json asks for. The times tell at once; else the versions do. */
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
  // An install that broke off may leave an empty file: run as a program, it would do nothing and succeed.
  if (existsSync(pinned) && statSync(pinned).size > 0) return pinned
  if (Number(process.versions.node.split(".")[0]) >= 24) return process.execPath
  return fail(
    "the npm package `node` has no program (were its install scripts refused?); use Node 24, or run npm ci again"
  )
}
