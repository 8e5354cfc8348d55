/** A server as people start it: a process of its own, on a port of its own, that can be killed and started again. */
import { type ChildProcess, execFile, spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { promisify } from "node:util"
import { nodeFlags } from "../../../../scripts/launch.mjs"

const root = join(import.meta.dirname, "..", "..", "..", "..")
export const NODE = join(root, "node_modules", "node", "bin", "node")
export const MAIN = join(root, "packages", "cli", "src", "main.ts")

/** A port that nobody listens on just now. */
export const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once("error", reject)
    probe.listen(0, "127.0.0.1", () => {
      const address = probe.address()
      probe.close(() =>
        typeof address === "object" && address !== null ? resolve(address.port) : reject(new Error("no port"))
      )
    })
  })

export const temporaryDirectory = (): { readonly path: string; readonly remove: () => void } => {
  const path = mkdtempSync(join(tmpdir(), "sluice-test-"))
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}

/** How a process ends that killed itself: never what a test asked for. */
const CRASHES: ReadonlySet<string | null> = new Set(["SIGABRT", "SIGBUS", "SIGFPE", "SIGILL", "SIGSEGV", "SIGTRAP"])

/** Looks until a server is ready, each after 20 ms: they end a hang, and leave a busy machine minutes. */
const MAX_LOOKS = 12_000

/** Tries of a request while the server is away: it may be killed again and again. */
const PATIENCE = 3_000

export interface ServerOptions {
  readonly port: number
  readonly data: string
  readonly key: string
  readonly databaseUrl?: string
  readonly speed?: number
  readonly flags?: ReadonlyArray<string>
  /** Flags of Node; the checkout's by default. */
  readonly node?: ReadonlyArray<string>
  /** The program to start; the command line's by default. */
  readonly main?: string
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  readonly json: any
}

export class ServerProcess {
  readonly options: ServerOptions
  child: ChildProcess | undefined
  output = ""

  constructor(options: ServerOptions) {
    this.options = options
  }

  private get environment() {
    const { databaseUrl, key } = this.options
    return {
      ...process.env,
      SLUICE_BOOTSTRAP_KEY: key,
      SLUICE_MASTER_KEY: Buffer.alloc(32, 9).toString("base64"),
      ...(databaseUrl === undefined ? {} : { SLUICE_DATABASE_URL: databaseUrl })
    }
  }

  get origin(): string {
    return `http://127.0.0.1:${this.options.port}`
  }

  /** Starts it and waits until it is ready; the milliseconds that took. */
  async start(): Promise<number> {
    const began = performance.now()
    const child = this.spawn()
    if (await this.ready(child)) return performance.now() - began
    const why = child.exitCode === null ? "did not become ready" : `ended with ${child.exitCode}`
    throw new Error(`the server ${why}:\n${this.output}`)
  }

  /** Waits until it is ready; false: it ended before, or is not ready after minutes. */
  async ready(child: ChildProcess): Promise<boolean> {
    for (let i = 0; i < MAX_LOOKS && child.exitCode === null && child.signalCode === null; i++) {
      const ready = await fetch(`${this.origin}/readyz`).then(
        (response) => response.ok,
        () => false
      )
      if (ready) return true
      await sleep(20)
    }
    return false
  }

  /** Starts it and does not wait. */
  spawn(variables: Readonly<Record<string, string>> = {}): ChildProcess {
    const { data, flags, main, node, port, speed } = this.options
    const args = ["serve", "--port", String(port), "--data", data, "--speed", String(speed ?? 1), ...(flags ?? [])]
    const child = spawn(NODE, [...(node ?? nodeFlags), main ?? MAIN, ...args], {
      env: { ...this.environment, ...variables },
      stdio: ["ignore", "pipe", "pipe"]
    })
    child.stdout?.on("data", (bytes: Buffer) => (this.output = (this.output + bytes.toString()).slice(-20_000)))
    child.stderr?.on("data", (bytes: Buffer) => (this.output = (this.output + bytes.toString()).slice(-20_000)))
    this.child = child
    return child
  }

  /** Runs `sluice admin` on its data; on an embedded database only while it is down. */
  async admin(...args: ReadonlyArray<string>): Promise<void> {
    const command = [MAIN, "admin", ...args, "--data", this.options.data]
    await promisify(execFile)(NODE, command, { env: this.environment })
  }

  /** Ends it at once, as a power cut of the process would, or asks it to end; fails where it crashed, then or before. */
  async end(signal: "SIGKILL" | "SIGTERM" = "SIGTERM"): Promise<void> {
    const child = this.child
    this.child = undefined
    if (child === undefined) return
    if (child.exitCode === null && child.signalCode === null) {
      const gone = new Promise((resolve) => child.once("exit", resolve))
      child.kill(signal)
      await gone
    }
    if (CRASHES.has(child.signalCode)) throw new Error(`the server crashed by ${child.signalCode}:\n${this.output}`)
  }

  async call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    try {
      return await this.ask(method, path, body, headers)
    } catch (cause) {
      throw await this.unanswered(`${method} ${path}`, cause)
    }
  }

  /** Says whether the server is still there; that it is not is known a moment after its connections are gone. */
  private async unanswered(what: string, cause: unknown): Promise<Error> {
    await sleep(100)
    const { exitCode = null, signalCode = null } = this.child ?? {}
    const end = signalCode ?? exitCode
    const state = this.child === undefined ? "was ended" : end === null ? "still runs" : `ended by itself with ${end}`
    return new Error(`${what} got no answer; the server ${state}:\n${this.output}`, { cause })
  }

  private async ask(method: string, path: string, body: unknown, headers: Record<string, string>): Promise<Answer> {
    const response = await fetch(this.origin + path, {
      method,
      headers: {
        authorization: `Bearer ${this.options.key}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    const text = await response.text()
    let json: unknown
    try {
      json = JSON.parse(text)
    } catch {
      json = undefined
    }
    return { status: response.status, headers: response.headers, text, json }
  }

  /** As `call`, trying again while the server is away. */
  async persist(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    let cause: unknown
    for (let i = 0; i < PATIENCE; i++) {
      try {
        const answer = await this.ask(method, path, body, headers)
        if (answer.status !== 503 && answer.json?.error?.code !== "idempotency_in_progress") return answer
      } catch (away) {
        cause = away
      }
      await sleep(100)
    }
    throw await this.unanswered(`${method} ${path}`, cause)
  }
}

export const TEST_KEY = "svc_live_TESTTESTabcdefghijklmnopqrstuvwxyz1234"
