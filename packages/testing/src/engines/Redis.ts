/**
 * Where do suites get a Redis? Each starts its own from the installed program, on a port that was free, with nothing on disk,
 * and may kill it, start it again on the same port, or make it stand still.
 *
 * A watching shell owns it: when the test process ends in any way, also by SIGKILL, its standard input closes, and the shell
 * kills the server.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { existsSync } from "node:fs"
import { connect } from "node:net"
import { delimiter, join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { describeWith } from "./Engines.ts"
import { freePort } from "../servers/ServerProcess.ts"

const program = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/bin", "/usr/local/bin"]
  .map((folder) => join(folder, "redis-server"))
  .find((path) => existsSync(path))

/** Why there is no Redis for tests, in words for a title; undefined when there is one. */
export const describeRedis = (): string | undefined => (program === undefined ? "no Redis is installed" : undefined)

/** A suite that needs Redis. */
export const describeOnRedis = (title: string, suite: () => void): void => {
  describeWith("redis-server", describeRedis(), title, suite)
}

const WATCH = `"$@" >/dev/null 2>&1 &
server=$!
read -r _
kill -KILL $server`

export class RedisProcess {
  readonly port: number
  readonly password: string | undefined
  /** Where it speaks TLS too, and with what: a PEM file with key and certificate. */
  readonly tls: { readonly port: number; readonly pem: string } | undefined
  private child: ChildProcess | undefined

  constructor(port: number, password?: string, tls?: RedisProcess["tls"]) {
    this.port = port
    this.password = password
    this.tls = tls
  }

  static async started(password?: string): Promise<RedisProcess> {
    const redis = new RedisProcess(await freePort(), password)
    await redis.start()
    return redis
  }

  get url(): string {
    return `redis://${this.password === undefined ? "" : `:${encodeURIComponent(this.password)}@`}127.0.0.1:${this.port}`
  }

  /** Starts it, empty, and waits until it answers. */
  async start(): Promise<void> {
    if (program === undefined) throw new Error(describeRedis())
    const settings = ["--port", String(this.port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
    const secret = this.password === undefined ? [] : ["--requirepass", this.password]
    const child = spawn("sh", ["-c", WATCH, "sh", program, ...settings, ...secret, ...this.tlsSettings], {
      cwd: "/",
      stdio: ["pipe", "ignore", "ignore"],
      detached: true
    })
    child.unref()
    this.child = child
    for (let i = 0; i < 400; i++) {
      if (await answers(this.port)) return
      await pause(25)
    }
    throw new Error("The test Redis did not start")
  }

  private get tlsSettings(): ReadonlyArray<string> {
    if (this.tls === undefined) return []
    const { pem, port } = this.tls
    const files = ["--tls-cert-file", pem, "--tls-key-file", pem, "--tls-ca-cert-file", pem]
    return ["--tls-port", String(port), ...files, "--tls-auth-clients", "no"]
  }

  /** Ends it at once. */
  async kill(): Promise<void> {
    const child = this.child
    this.child = undefined
    if (child === undefined) return
    const gone = new Promise((resolve) => child.once("exit", resolve))
    this.signal(child, "SIGKILL")
    await gone
    while (await answers(this.port)) await pause(5)
  }

  /** Connections are accepted from now on, and nothing is answered. */
  standStill(): void {
    if (this.child !== undefined) this.signal(this.child, "SIGSTOP")
  }

  goOn(): void {
    if (this.child !== undefined) this.signal(this.child, "SIGCONT")
  }

  /** To the shell and the server, which are a group of their own. */
  private signal(child: ChildProcess, signal: NodeJS.Signals): void {
    if (child.pid !== undefined) process.kill(-child.pid, signal)
  }
}

/** Whether a Redis there answers a PING, be it with a refusal. */
const answers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1" }, () => socket.write("PING\r\n"))
    const end = (answer: boolean) => {
      socket.destroy()
      resolve(answer)
    }
    socket.once("data", (bytes) => end(/^(\+PONG|-NOAUTH)/.test(bytes.toString())))
    socket.once("error", () => end(false))
    socket.once("close", () => end(false))
  })
