/** Runs the command line as a process of its own, as users do. */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process"
import { fileURLToPath } from "node:url"

const MAIN = fileURLToPath(new URL("../../src/main.ts", import.meta.url))

export interface Ended {
  readonly code: number | null
  readonly stdout: Buffer
  readonly out: string
  readonly err: string
}

export interface Running {
  readonly child: ChildProcessWithoutNullStreams
  /** Resolves when the text appears; rejects when the process ends without it. */
  readonly seen: (where: "out" | "err", text: string | RegExp) => Promise<string>
  readonly ended: Promise<Ended>
}

/** Running processes; a failed test must leave none behind. */
const children = new Set<ChildProcessWithoutNullStreams>()
process.on("exit", () => children.forEach((child) => child.kill("SIGKILL")))

/** Variables that every process needs: the path of programs, and Node's compile cache. */
const { PATH = "", NODE_COMPILE_CACHE = "" } = process.env

/** Starts `sluice ...args` with only the given variables and those two. */
export const start = (
  args: ReadonlyArray<string>,
  variables: Readonly<Record<string, string>> = {},
  input = ""
): Running => {
  const child = spawn(process.execPath, [MAIN, ...args], { env: { PATH, NODE_COMPILE_CACHE, ...variables } })
  children.add(child)
  child.on("close", () => children.delete(child))
  child.stdin.end(input)
  const out: Array<Buffer> = []
  const err: Array<Buffer> = []
  child.stdout.on("data", (chunk: Buffer) => out.push(chunk))
  child.stderr.on("data", (chunk: Buffer) => err.push(chunk))
  const text = (where: "out" | "err") => Buffer.concat(where === "out" ? out : err).toString()
  const ended = new Promise<Ended>((resolve) => {
    child.on("close", (code) => resolve({ code, stdout: Buffer.concat(out), out: text("out"), err: text("err") }))
  })
  const seen = (where: "out" | "err", wanted: string | RegExp) =>
    new Promise<string>((resolve, reject) => {
      const look = () => {
        const found = text(where)
        if (typeof wanted === "string" ? found.includes(wanted) : wanted.test(found)) resolve(found)
      }
      look()
      child[where === "out" ? "stdout" : "stderr"].on("data", look)
      child.on("close", () => reject(new Error(`ended without ${String(wanted)}: ${text("out")}${text("err")}`)))
    })
  return { child, seen, ended }
}

/** Runs `sluice ...args` to its end. */
export const cli = (args: ReadonlyArray<string>, variables: Readonly<Record<string, string>> = {}, input = "") =>
  start(args, variables, input).ended
