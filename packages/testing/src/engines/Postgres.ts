/**
 * Where do suites get a PostgreSQL? From SLUICE_TEST_DATABASE_URL, else a private cluster in a temporary directory, made
 * from installed binaries once per test process. It listens on a socket in that directory alone.
 *
 * A watching shell owns the cluster: when the test process ends in any way, also by SIGKILL, its standard input closes,
 * and the shell stops the database and removes the directory.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import type { Scope } from "effect"
import { Reactivity } from "effect/reactivity"
import { execFileSync, spawn, spawnSync } from "node:child_process"
import { randomBytes } from "node:crypto"
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { describeWith } from "./Engines.ts"

/** Why there is no PostgreSQL for tests, in words for a title; undefined when there is one. */
export const describePostgres = (): string | undefined =>
  process.env["SLUICE_TEST_DATABASE_URL"] !== undefined || binaries() !== undefined
    ? undefined
    : "no SLUICE_TEST_DATABASE_URL, and no PostgreSQL is installed"

/** A suite that needs PostgreSQL. */
export const describeOnPostgres = (title: string, suite: () => void): void => {
  describeWith("postgresql", describePostgres(), title, suite)
}

/** The URL of a new, empty database that is dropped with the scope. Also for suites that start whole servers. */
export const freshDatabase: Effect.Effect<string, never, Scope.Scope> = Effect.gen(function* () {
  const admin = yield* Effect.promise(() => (cluster ??= adminUrl()))
  const name = `sluice_test_${randomBytes(6).toString("hex")}`
  yield* Effect.acquireRelease(execute(admin, `create database ${name}`), () =>
    Effect.ignore(execute(admin, `drop database if exists ${name} with (force)`))
  )
  const url = new URL(admin)
  url.pathname = `/${name}`
  return url.href
})
let cluster: Promise<string> | undefined

const execute = (url: string, statement: string) =>
  PgClient.make({ url: Redacted.make(url), maxConnections: 1, connectTimeout: "Infinity" }).pipe(
    Effect.flatMap((sql) => sql.unsafe(statement)),
    Effect.provide(Reactivity.layer),
    Effect.scoped,
    Effect.orDie
  )

const adminUrl = async (): Promise<string> => process.env["SLUICE_TEST_DATABASE_URL"] ?? (await startCluster())

/** The newest installed version's folder of programs. */
const binaries = (): string | undefined => {
  const root = "/usr/lib/postgresql"
  const versions = existsSync(root) ? readdirSync(root).sort((a, b) => Number(b) - Number(a)) : []
  const folders = [...versions.map((version) => join(root, version, "bin")), "/usr/local/pgsql/bin", "/usr/local/bin"]
  return [...folders, ...(process.env["PATH"] ?? "").split(delimiter)].find(
    (folder) => existsSync(join(folder, "initdb")) && existsSync(join(folder, "postgres"))
  )
}

const startCluster = async (): Promise<string> => {
  const bin = binaries()
  if (bin === undefined) throw new Error(describePostgres())
  const directory = mkdtempSync(join(tmpdir(), "sluice-pg-"))
  const user = unprivileged()
  if (user !== undefined) chownSync(directory, user.uid, user.gid)
  const data = join(directory, "data")
  execFileSync(
    join(bin, "initdb"),
    ["--pgdata", data, "--username", "postgres", "--auth", "trust", "--encoding", "UTF8", "--locale", "C", "--no-sync"],
    { ...user, cwd: directory, stdio: "pipe" }
  )
  const settings = [
    "listen_addresses=",
    `unix_socket_directories=${directory}`,
    `fsync=${process.env["SLUICE_TEST_FSYNC"] ?? "off"}`,
    "max_connections=200"
  ]
  const watch = spawn(
    "sh",
    [
      "-c",
      WATCH,
      "sh",
      directory,
      join(bin, "postgres"),
      "-D",
      data,
      ...settings.flatMap((setting) => ["-c", setting])
    ],
    { ...user, cwd: "/", stdio: ["pipe", "ignore", "ignore"], detached: true }
  )
  watch.unref()
  process.once("exit", () => watch.stdin.destroy())
  await answering(bin, directory)
  return `postgres://postgres@localhost/postgres?host=${encodeURIComponent(directory)}`
}

/** `read` returns when the test process is gone; the database's own signals are kept away by `detached`. */
const WATCH = `directory=$1; shift
"$@" >"$directory/log" 2>&1 &
database=$!
read -r _
kill -QUIT $database
wait $database
rm -rf "$directory"`

const answering = async (bin: string, directory: string): Promise<void> => {
  for (let attempt = 0; attempt < 200; attempt++) {
    if (spawnSync(join(bin, "pg_isready"), ["-q", "-h", directory]).status === 0) return
    await pause(50)
  }
  const log = readFileSync(join(directory, "log"), "utf8")
  rmSync(directory, { recursive: true, force: true })
  throw new Error(`The test PostgreSQL did not start:\n${log}`)
}

/** PostgreSQL refuses to run as root: then its own user, or nobody. */
const unprivileged = (): { readonly uid: number; readonly gid: number } | undefined => {
  if (process.getuid?.() !== 0) return undefined
  for (const name of ["postgres", "nobody"]) {
    const ids = ["-u", "-g"].map((flag) => spawnSync("id", [flag, name], { encoding: "utf8" }))
    if (ids.every((id) => id.status === 0)) return { uid: Number(ids[0]!.stdout), gid: Number(ids[1]!.stdout) }
  }
  throw new Error("PostgreSQL does not run as root, and this machine has neither a user postgres nor nobody")
}
