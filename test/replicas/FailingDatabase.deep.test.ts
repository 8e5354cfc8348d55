/**
 * A database whose connections fall silent without being closed, as after a failover: requests get a retryable error and the
 * server finds new connections by itself; and where nothing answers at all, SIGTERM ends it all the same. And one that became
 * a standby.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { connect, createServer, type Server, type Socket } from "node:net"
import { assert, it } from "vitest"
import { describeOnPostgres, freshDatabase } from "@sluice/testing/engines/Postgres"
import { freePort, ServerProcess, temporaryDirectory, TEST_KEY } from "@sluice/testing/servers/ServerProcess"

/** Between a server and its database; what is frozen stays open and says nothing. */
class Middle {
  readonly port: number
  private readonly pairs = new Set<readonly [Socket, Socket]>()
  private readonly server: Server
  private deaf = false

  private constructor(server: Server, port: number) {
    this.server = server
    this.port = port
  }

  static async before(url: URL, port: number): Promise<Middle> {
    const host = url.searchParams.get("host") ?? url.hostname
    const target = url.searchParams.get("port") ?? (url.port === "" ? "5432" : url.port)
    const server = createServer((client) => {
      client.on("error", () => {})
      if (middle.deaf) return
      const database = connect(
        host.startsWith("/") ? `${host}/.s.PGSQL.${target}` : ({ host, port: Number(target) } as never)
      )
      database.on("error", () => client.destroy())
      database.on("close", () => client.destroy())
      client.on("close", () => database.destroy())
      client.pipe(database)
      database.pipe(client)
      middle.pairs.add([client, database])
    })
    const middle = new Middle(server, port)
    await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve))
    return middle
  }

  freeze(andNewOnes: boolean): void {
    this.deaf = andNewOnes
    for (const [client, database] of this.pairs) {
      client.unpipe()
      database.unpipe()
      client.pause()
      database.pause()
    }
    this.pairs.clear()
  }

  close(): void {
    this.server.close()
  }
}

const chat = { model: "sluice-small", messages: [{ role: "user", content: "Hello" }], max_tokens: 5 }

const scene = async (database: string) => {
  const directory = temporaryDirectory()
  const url = new URL(database)
  const middle = await Middle.before(url, await freePort())
  url.searchParams.delete("host")
  url.searchParams.delete("port")
  url.host = `127.0.0.1:${middle.port}`
  const server = new ServerProcess({
    port: await freePort(),
    data: directory.path,
    key: TEST_KEY,
    databaseUrl: url.href
  })
  try {
    await server.start()
    const asked = (method: string, path: string, body?: unknown) => server.call(method, path, body)
    assert.strictEqual((await asked("GET", "/api/v1/jobs")).status, 200)
    assert.strictEqual((await asked("POST", "/v1/chat/completions", chat)).status, 200)

    middle.freeze(false)
    const answers = await Promise.all([
      asked("GET", "/api/v1/jobs"),
      asked("POST", "/v1/chat/completions", chat),
      asked("POST", "/v1/chat/completions", chat)
    ])
    for (const { headers, status, text } of answers) {
      assert.include([200, 503], status, text)
      if (status === 503) assert.isNotNull(headers.get("retry-after"))
    }
    assert.strictEqual((await asked("GET", "/api/v1/jobs")).status, 200)
    assert.strictEqual((await asked("POST", "/v1/chat/completions", chat)).status, 200)

    middle.freeze(true)
    const cut = asked("POST", "/v1/chat/completions", chat).catch(() => undefined)
    await new Promise((resolve) => setTimeout(resolve, 500))
    let isCut = false
    void cut.then(() => (isCut = true))
    const looks = await Promise.all([asked("GET", "/readyz"), asked("GET", "/readyz")])
    assert.deepStrictEqual(
      looks.map(({ status }) => status),
      [503, 503]
    )
    // They wait 2 s, and not for the statement, which is given up later.
    assert.isFalse(isCut)
    // It would never end if it waited for the database.
    await server.end("SIGTERM")
    await cut
  } finally {
    await server.end("SIGKILL")
    middle.close()
    directory.remove()
  }
}

/** Runs it on a connection of its own and has all others begin anew. */
const change = (database: string, statement: (name: string) => string) =>
  Effect.runPromise(
    PgClient.make({
      url: Redacted.make(database),
      maxConnections: 1,
      startupParameters: { default_transaction_read_only: "off" }
    }).pipe(
      Effect.flatMap((sql) =>
        Effect.andThen(
          sql.unsafe(statement(new URL(database).pathname.slice(1))),
          sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`
        )
      ),
      Effect.provide(Reactivity.layer),
      Effect.scoped
    )
  )

const readOnly = async (databaseUrl: string) => {
  const directory = temporaryDirectory()
  const server = new ServerProcess({ port: await freePort(), data: directory.path, key: TEST_KEY, databaseUrl })
  try {
    await server.start()
    await change(databaseUrl, (name) => `alter database ${name} set default_transaction_read_only = on`)
    const answers = [
      await server.call("POST", "/v1/chat/completions", chat),
      await server.call("POST", "/api/v1/jobs", { command: "true", gpu_type: "H100", max_runtime_minutes: 5 })
    ]
    for (const { headers, status, text } of answers) {
      assert.strictEqual(status, 503, text)
      assert.isNotNull(headers.get("retry-after"))
    }
    assert.strictEqual((await server.call("GET", "/readyz")).status, 503)
    await change(databaseUrl, (name) => `alter database ${name} reset default_transaction_read_only`)
    assert.isTrue(await server.ready(server.child!))
    assert.strictEqual((await server.persist("POST", "/v1/chat/completions", chat)).status, 200)
  } finally {
    await server.end("SIGTERM")
    directory.remove()
  }
}

const onFresh = (scene: (url: string) => Promise<void>) =>
  Effect.runPromise(Effect.scoped(Effect.flatMap(freshDatabase, (url) => Effect.promise(() => scene(url)))))

describeOnPostgres("A database that falls silent", () => {
  it("holds nobody up for ever", { timeout: 300_000 }, () => onFresh(scene))
})

describeOnPostgres("A database that takes nothing", () => {
  it("answers like an unavailable one, and no replica is ready on it", { timeout: 300_000 }, () => onFresh(readOnly))
})
