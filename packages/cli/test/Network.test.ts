/** The command line on an unreliable network, and without any server. */
import { spawnSync } from "node:child_process"
import { join } from "node:path"
import { scheduler } from "node:timers/promises"
import { afterEach, describe, expect, it } from "vitest"
import { cli, start } from "./support/Cli.ts"
import { type Flaky, flakyService, ID } from "./support/FlakyService.ts"

const KEY = { SLUICE_API_KEY: "svc_live_0123456789abcdef" }
const BIN = join(import.meta.dirname, "..", "bin", "sluice.mjs")
let service: Flaky | undefined
afterEach(() => service?.close())

const variables = (flaky: Flaky) => ({ ...KEY, SLUICE_INFRA_URL: flaky.url })
const run = ["jobs", "run", "--gpu", "H100", "--", "x"]

/** All 256 byte values in an order that is not valid UTF-8, beside characters of several bytes. */
const bytes = Buffer.concat([
  Buffer.from("h\u00e9llo \u4e16\u754c \u{1f600}\n"),
  Buffer.from(Array.from({ length: 512 }, (_, at) => (at * 37) % 256)),
  Buffer.from("\ufeffend without a newline")
])

describe("a network that breaks", () => {
  it("jobs run on an unreliable network creates one job, prints its whole log and exits with its exit code", async () => {
    service = await flakyService({ log: bytes, eventBytes: 50 })
    const { code, stdout, err } = await cli(run, variables(service))
    expect(stdout.equals(bytes)).toBe(true)
    expect(code).toBe(7)
    expect(service.submissions).toHaveLength(2)
    expect(service.submissions[0]).toEqual(service.submissions[1])
    expect(service.submissions[0]?.key).toMatch(/^[0-9a-f-]{36}$/)
    expect(service.logRequests.filter((query) => query.includes("follow=true")).length).toBeGreaterThan(3)
    expect(err).toContain("$3.13 at most, held")
    expect(err.trimEnd()).toMatch(/failed, exit code 7, ran 1m 05s, cost \$0\.045, 5\d\d bytes of log$/)
  })

  it("with --json every line of standard output is an event, the texts make up the log, and standard error is empty", async () => {
    const log = Buffer.from("line one\nline two\n".repeat(40))
    service = await flakyService({ log, eventBytes: 64 })
    const { code, err, out } = await cli(["--json", ...run], variables(service))
    const events = out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line))
    expect(events.map(({ event }) => event).filter((event) => event !== "log")).toEqual([
      "quote",
      "job",
      "status",
      "end"
    ])
    expect(
      events
        .filter(({ event }) => event === "log")
        .map(({ text }) => text)
        .join("")
    ).toBe(log.toString())
    expect(events.at(-1).job.exit_code).toBe(7)
    expect([code, err]).toEqual([7, ""])
  })

  it("a tail resumes where it was cut, also if its first bytes are not UTF-8", async () => {
    const tail = Buffer.concat([Buffer.from([0x0a, 0xff, 0x61, 0xfe]), Buffer.from("b".repeat(400))])
    service = await flakyService({ log: Buffer.concat([Buffer.from("early\n".repeat(9)), tail]), eventBytes: 50 })
    const { code, stdout } = await cli(["jobs", "logs", "-f", "--tail", "1", ID], variables(service))
    expect(code).toBe(0)
    expect(stdout.equals(tail.subarray(1))).toBe(true)
    expect(service.logRequests.filter((query) => query.includes("tail"))).toHaveLength(1)
  })

  it("Ctrl-C detaches from the job and prints how to follow it", async () => {
    service = await flakyService({ log: Buffer.from("working\n"), eventBytes: 64, endless: true })
    const running = start(run, variables(service))
    await running.seen("out", "working")
    running.child.kill("SIGINT")
    const { code, err } = await running.ended
    expect(code).toBe(130)
    expect(err).toContain("sluice jobs logs -f 01990000-")
    expect(service.cancels).toEqual([])
  })

  it("a second Ctrl-C within two seconds cancels the job", async () => {
    service = await flakyService({ log: Buffer.from("working\n"), eventBytes: 64, endless: true })
    const running = start(run, variables(service))
    await running.seen("out", "working")
    running.child.kill("SIGINT")
    await running.seen("err", "Ctrl-C again")
    // Longer than the window in which one press can reach the process several times.
    await scheduler.wait(300)
    running.child.kill("SIGINT")
    const { code, err } = await running.ended
    expect(code).toBe(130)
    expect(service.cancels).toHaveLength(1)
    expect(err).toContain("Cancelling")
  })

  it("with --json the last event is detached, or cancelling after a second Ctrl-C", async () => {
    service = await flakyService({ log: Buffer.from("working\n"), eventBytes: 64, endless: true })
    for (const last of ["detached", "cancelling"]) {
      const running = start(["--json", ...run], variables(service))
      await running.seen("out", "working")
      running.child.kill("SIGINT")
      await running.seen("out", '"detached"')
      if (last === "cancelling") {
        await scheduler.wait(300)
        running.child.kill("SIGINT")
      }
      const { code, out } = await running.ended
      expect(code).toBe(130)
      const told = JSON.parse(out.trimEnd().split("\n").at(-1)!)
      expect([told.event, told.job_id ?? told.job.id]).toEqual([last, ID])
    }
    expect(service.cancels).toHaveLength(1)
  })
})

describe("no server, no key, no such command", () => {
  it("a missing server, a missing key and an unknown command are reported on standard error, each with its exit code", async () => {
    const nobody = { ...KEY, SLUICE_INFRA_URL: "http://127.0.0.1:9/api/v1" }
    const [absent, keyless, mistyped, badUrl, badKey] = await Promise.all([
      cli(["balance", "--json"], { ...nobody, SLUICE_INFRA_URL: "http://127.0.0.1:20009/api/v1" }),
      cli(["balance"]),
      cli(["jobs", "rnu"]),
      cli(["balance", "--infra-url", "http://127.0.0.1:20009"], nobody),
      cli(["balance"], { ...nobody, SLUICE_API_KEY: "svc_live_hunter\n2" })
    ])
    const all = [absent, keyless, mistyped, badUrl, badKey]
    expect(all.map(({ code }) => code)).toEqual([75, 77, 2, 2, 77])
    expect(all.map(({ out }) => out)).toEqual(["", "", "", "", ""])
    expect(badKey.err).toContain("not valid in a key")
    expect(badKey.err).not.toContain("hunter")
    expect(JSON.parse(absent.err).error.code).toBe("unreachable")
    expect(keyless.err).toContain("export SLUICE_API_KEY=")
    expect(mistyped.err).toContain("Usage: sluice jobs")
    expect(badUrl.err).toContain("ends in /api/v1")
  })

  it("an unreachable server is reported in one line, with the proxy that Node used", async () => {
    service = await flakyService({ log: bytes, eventBytes: 50 })
    const url = service.url
    const tls = { ...KEY, SLUICE_INFRA_URL: url.replace("http:", "https:") }
    const proxy = { NODE_USE_ENV_PROXY: "1", HTTP_PROXY: "http://127.0.0.1:9" }
    const [plain, secure, proxied] = await Promise.all([
      cli(["balance"], { ...KEY, SLUICE_INFRA_URL: "http://127.0.0.1:9/api/v1" }),
      cli(["balance"], { ...tls, ...proxy }),
      cli(["balance"], { ...KEY, ...proxy, SLUICE_INFRA_URL: url })
    ])
    expect([plain, secure, proxied].map(({ code }) => code)).toEqual([75, 75, 75])
    // OpenSSL ends its reasons with a line break.
    expect(secure.err).toMatch(/^sluice: https:.*[^\s]\. Is the server running.*\n$/)
    expect(plain.err).not.toContain("PROXY")
    expect(secure.err).not.toContain("PROXY")
    expect(proxied.err).toContain("through the proxy in HTTP_PROXY")
  })

  it("an address with a password is refused without showing it", async () => {
    const secret = { ...KEY, SLUICE_INFRA_URL: "http://me:hunter2@127.0.0.1:9/api/v1" }
    const [variable, flag, json] = await Promise.all([
      cli(["balance"], secret),
      cli(["models", "--base-url", "http://hunter2@127.0.0.1:9/v1"], KEY),
      cli(["balance", "--json"], secret)
    ])
    expect([variable, flag, json].map(({ code, out }) => [code, out])).toEqual([
      [2, ""],
      [2, ""],
      [2, ""]
    ])
    expect(variable.err).toMatch(/^sluice: SLUICE_INFRA_URL .* no password/)
    expect(flag.err).toMatch(/^sluice: SLUICE_BASE_URL .* no password/)
    for (const { err } of [variable, flag, json]) expect(err).not.toContain("hunter2")
  })

  it("a missing file of variables is reported by sluice, not by Node", () => {
    const args = ["jobs", "run", "--gpu", "H100", "--env-file", "/none/at/all", "--", "true"]
    const { status, stderr } = spawnSync(BIN, args, { encoding: "utf8", env: { ...process.env, ...KEY } })
    expect([status, stderr]).toEqual([2, "sluice: --env-file /none/at/all can't be read\n"])
  })

  it("requested help goes to standard output", async () => {
    const { code, out, err } = await cli(["jobs", "run", "--help"])
    expect([code, err]).toEqual([0, ""])
    expect(out).toContain("sluice jobs run --gpu H100")
  })
})
