/** End-to-end runs: a real server with its simulated world, and the command line as a process against it. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { cli, type Running, start } from "./support/Cli.ts"

const KEY = `svc_live_${"c".repeat(38)}`
const directory = mkdtempSync(join(tmpdir(), "sluice-cli-"))
const data = join(directory, "data")
let server: Running
let place: Readonly<Record<string, string>>

/** Starts a server; `port` 0 takes a free one. Returns once it answers requests. */
const serve = async (port: string) => {
  server = start(["serve", "--json", "--port", port, "--data", data, "--speed", "100"], { SLUICE_BOOTSTRAP_KEY: KEY })
  const welcome = JSON.parse(await server.seen("out", "\n"))
  place = { SLUICE_API_KEY: KEY, SLUICE_INFRA_URL: welcome.infra_url, SLUICE_BASE_URL: welcome.base_url }
  return new URL(welcome.base_url).port
}

const sluice = (...args: ReadonlyArray<string>) => cli(args, place)
const job = ["--gpu", "H100", "--timeout", "20m"]

let port: string
beforeAll(async () => {
  port = await serve("0")
})
afterAll(async () => {
  server.child.kill("SIGTERM")
  const { code } = await server.ended
  rmSync(directory, { recursive: true, force: true })
  expect(code).toBe(0)
})

describe("jobs", () => {
  it("jobs run prints the output byte for byte, messages on standard error, and exits with the command's exit code", async () => {
    const { code, out, err } = await sluice("jobs", "run", ...job, "--", "echo one; echo two >&2; printf end; exit 7")
    expect([code, out]).toEqual([7, "one\ntwo\nend"])
    expect(err).toMatch(/1 x H100 at \$2\.99 an hour, for at most 20m\n\$1\.74 at most, held/)
    expect(err).toMatch(/\ds {2}(queued|starting|running)\n/)
    expect(err).toMatch(/failed, exit code 7, ran .*, cost \$0\.\d+, 11 bytes of log\n$/)
  })

  it("several words after -- are one command with its arguments", async () => {
    const { code, out } = await sluice(
      "jobs",
      "run",
      ...job,
      "-e",
      "GREETING=hi there",
      "--",
      "printf",
      "%s|",
      "a b",
      "$GREETING"
    )
    expect([code, out]).toEqual([0, "a b|$GREETING|"])
  })

  it("a quote and a dry run create nothing, and a wrong GPU type is reported by its flag", async () => {
    const count = async () => JSON.parse((await sluice("jobs", "list", "--all", "--json")).out).length
    const before = await count()
    const quoted = JSON.parse((await sluice("jobs", "quote", "--json", ...job, "--", "true")).out)
    const dry = JSON.parse((await sluice("jobs", "run", "--dry-run", "--json", ...job, "--", "true")).out)
    expect(dry).toEqual(quoted)
    expect(quoted).toMatchObject({ cost_per_hour: 2.99, affordable: true })
    const wrong = await sluice("jobs", "run", "--gpu", "GTX", "--", "true")
    expect([wrong.code, wrong.out]).toEqual([2, ""])
    expect(wrong.err).toMatch(/--gpu must be one of .*H100/)
    expect(wrong.err).toMatch(/\(request [\w-]+\)/)
    const dear = await sluice("jobs", "run", "--json", "--gpu", "H100", "--gpus", "8", "--timeout", "24h", "--", "true")
    expect([dear.code, JSON.parse(dear.out).event]).toEqual([1, "quote"])
    expect(JSON.parse(dear.err).error.code).toBe("insufficient_credits")
    expect(await count()).toBe(before)
  })

  it("a detached job can be shown, listed by label, read by offset and by lines, and cancelled", async () => {
    const name = ["--description", "nightly run", "--name", "long", "--label", "run=7", "--timeout", "10h"]
    const id = (
      await sluice("jobs", "run", "-d", "--gpu", "H100", ...name, "--", "echo first; echo second; sleep 30000")
    ).out.trim()
    const following = start(["jobs", "logs", "-f", id], place)
    await following.seen("out", "second\n")
    following.child.kill("SIGINT")
    const left = await following.ended
    expect([left.code, left.out]).toEqual([130, "first\nsecond\n"])
    const [shown, listed, offset, tail] = await Promise.all([
      sluice("jobs", "show", id, "--json"),
      sluice("jobs", "list", "--label", "run=7", "--status", "running", "--json"),
      sluice("jobs", "logs", id, "--offset", "6"),
      sluice("jobs", "logs", id, "--tail", "1")
    ])
    expect(JSON.parse(shown.out)).toMatchObject({ id, name: "long", description: "nightly run", labels: { run: "7" } })
    expect(JSON.parse(listed.out).map((found: { id: string }) => found.id)).toEqual([id])
    expect([offset.out, tail.out]).toEqual(["second\n", "second\n"])
    const cancelled = await sluice("jobs", "cancel", id)
    expect([cancelled.code, cancelled.out]).toEqual([0, expect.stringMatching(/: cancelled, ran /)])
    const again = await sluice("jobs", "show", "01990000-0000-7000-8000-000000000009", "--json")
    expect([again.code, JSON.parse(again.err).error.code]).toEqual([1, "not_found"])
  })

  it("a volume is mounted by its name and keeps the files of a job", async () => {
    const ask = async (path: string, body?: unknown) => {
      const answer = await fetch(`${place.SLUICE_INFRA_URL}${path}`, {
        headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json" },
        ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) })
      })
      return (await answer.json()) as { readonly data: ReadonlyArray<{ readonly id: string }> }
    }
    const region = (await ask("/storage/regions")).data[0]?.id
    await ask("/storage", { name: "shelf", region, size_gb: 1 })
    const onShelf = [...job, "--volume", "shelf", "--"]
    expect((await sluice("jobs", "run", ...onShelf, "echo kept > note")).code).toBe(0)
    expect((await sluice("jobs", "run", ...onShelf, "cat note")).out).toBe("kept\n")
    const unknown = await sluice("jobs", "run", ...job, "--volume", "cellar", "--", "true")
    expect([unknown.code, unknown.err]).toEqual([2, expect.stringContaining("--volume cellar")])
  })

  it("a follower of a log resumes after the server is killed and restarted, with no byte repeated or missing", async () => {
    const lines = Array.from({ length: 12 }, (_, at) => `line ${at}`)
    const command = "for i in 0 1 2 3 4 5 6 7 8 9 10 11; do echo line $i; sleep 60; done"
    const following = start(["jobs", "run", ...job, "--", command], place)
    await following.seen("out", "line 2\n")
    server.child.kill("SIGKILL")
    await server.ended
    await following.seen("err", "Connection lost")
    await serve(port)
    const { code, out } = await following.ended
    expect([code, out]).toEqual([0, `${lines.join("\n")}\n`])
  })
})

describe("models and money", () => {
  it("chat streams the answer to standard output and prints its cost on standard error", async () => {
    const { code, out, err } = await cli(["chat", "--max-tokens", "40"], place, "Say something.")
    expect(code).toBe(0)
    expect(out.trim()).not.toBe("")
    expect(err).toMatch(/sluice-small: \d+ tokens in, \d+ out, \$0\.0\d+\n$/)
    const asked = await sluice("chat", "--json", "-m", "sluice-small", "hello")
    const events = asked.out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line))
    expect(events.every(({ event, object }) => event === "chunk" && object === "chat.completion.chunk")).toBe(true)
    expect(events.at(-1).usage.cost).toBeGreaterThan(0)
    const unknown = await sluice("chat", "-m", "none", "hello")
    expect([unknown.code, unknown.out]).toEqual([1, ""])
    expect(unknown.err).toMatch(/There is no model 'none'.*\n.*\(request/)
  })

  it("usage prints the cost of the answers in every grouping", async () => {
    const before = JSON.parse((await sluice("usage", "--json")).out)
    const asked = await sluice("chat", "--json", "-m", "sluice-large", "hello")
    const { cost } = JSON.parse(asked.out.trimEnd().split("\n").at(-1)!).usage
    const told = JSON.parse((await sluice("usage", "--by", "model", "--json")).out)
    expect(told.total_cost - before.total_cost).toBeCloseTo(cost, 9)
    const large = told.groups.find(({ group }: { readonly group: string }) => group === "sluice-large")
    expect(large).toMatchObject({ name: null, total_requests: 1, total_cost: cost })
    expect(told.groups.reduce((sum: number, group: typeof large) => sum + group.total_cost, 0)).toBeCloseTo(
      told.total_cost,
      9
    )
    expect((await sluice("usage", "--by", "key")).out).toMatch(/^KEY +REQUESTS .*COST\n\S.* \$0\.0\d+\nall +/)
    const earlier = JSON.parse((await sluice("usage", "--from", "2020-01-01", "--to", "2020-01-31", "--json")).out)
    expect(earlier).toMatchObject({ total_requests: 0, total_cost: 0, groups: [] })
    const wrong = await sluice("usage", "--from", "2026-02-30")
    expect([wrong.code, wrong.out]).toEqual([2, ""])
    expect(wrong.err).toMatch(/from.*must be a date/)
  })

  it("gpus, models and balance print their lists, and a wrong key exits with 77", async () => {
    const [gpus, models, balance, stranger] = await Promise.all([
      sluice("gpus"),
      sluice("models", "--json"),
      sluice("balance", "--json"),
      cli(["balance"], { ...place, SLUICE_API_KEY: `svc_live_${"z".repeat(38)}` })
    ])
    expect(gpus.out).toMatch(/^GPU .*\n(.*\n)*H100 .*\$2\.99/)
    expect(JSON.parse(models.out)[0].id).toBe("sluice-small")
    expect(JSON.parse(balance.out).balance_usd).toBeLessThan(100)
    expect([stranger.code, stranger.out]).toEqual([77, ""])
    expect(stranger.err).toMatch(/SLUICE_API_KEY[\s\S]*\(request/)
  })
})
