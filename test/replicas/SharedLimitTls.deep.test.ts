/** A Redis behind TLS: trusted where its certificate is that of the operator's authority, else the limit holds per replica. */
import { assert, it } from "vitest"
import { join } from "node:path"
import { describeOnRedis, RedisProcess } from "@sluice/testing/engines/Redis"
import { freePort, ServerProcess, temporaryDirectory, TEST_KEY } from "@sluice/testing/servers/ServerProcess"
import { until } from "@sluice/testing/servers/TwoServers"

const certificates = join(import.meta.dirname, "..", "support", "certificates")

const sharing = async (certificate: string): Promise<string> => {
  const pem = join(certificates, `${certificate}.pem`)
  const redis = new RedisProcess(await freePort(), "hunter2-hunter2", { port: await freePort(), pem })
  await redis.start()
  const directory = temporaryDirectory()
  const server = new ServerProcess({ port: await freePort(), data: directory.path, key: TEST_KEY })
  try {
    const child = server.spawn({
      SLUICE_REDIS_URL: `rediss://:hunter2-hunter2@localhost:${redis.tls!.port}`,
      NODE_EXTRA_CA_CERTS: join(certificates, "authority.pem")
    })
    assert.isTrue(await server.ready(child), server.output)
    const { headers } = await server.call("GET", "/v1/models")
    assert.strictEqual(headers.get("x-ratelimit-remaining"), "599")
    const told = await until("/readyz tells", async () => {
      const { json } = await server.call("GET", "/readyz")
      // It is looked for again and again: what is refused stays refused.
      return json.rate_limits === "shared" || server.output.includes("Redis") ? String(json.rate_limits) : undefined
    })
    assert.notInclude(server.output, "hunter2")
    return told
  } finally {
    await server.end("SIGKILL")
    await redis.kill()
    directory.remove()
  }
}

describeOnRedis("A rate limit in a Redis behind TLS", () => {
  it("is shared where the certificate is trusted", { timeout: 300_000 }, async () => {
    assert.strictEqual(await sharing("localhost"), "shared")
  })

  it.each(["stranger", "other"])(
    "is not where it is that of another: %s",
    { timeout: 300_000 },
    async (certificate) => {
      assert.strictEqual(await sharing(certificate), "per_replica")
    }
  )
})
