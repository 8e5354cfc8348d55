/** What people type after `npm run simulate --`, and what comes of it. */
import { spawnSync } from "node:child_process"
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, describe, it } from "vitest"
import { parseOptions } from "../../src/run/CliOptions.ts"

const ask = (...args: ReadonlyArray<string>) => parseOptions(args, 20_000)
const directory = mkdtempSync(join(tmpdir(), "sluice-simulate-"))
afterAll(() => rmSync(directory, { recursive: true }))
const file = (name: string, text: string) => {
  const path = join(directory, name)
  writeFileSync(path, text)
  return path
}
const main = join(import.meta.dirname, "..", "..", "src", "main.ts")
const run = (...args: ReadonlyArray<string>) => {
  const { status, stderr, stdout } = spawnSync(process.execPath, ["--no-warnings", main, ...args], { encoding: "utf8" })
  return { status, stderr, stdout }
}

describe("What a simulation is asked for", () => {
  it("takes the seed of the day and a day of users, or what is given", () => {
    assert.deepInclude(ask().scenario, { seed: 20_000, hours: 24 })
    assert.deepInclude(ask("--seed", "7", "--days", "2", "--hours", "3").scenario, { seed: 7, hours: 51 })
    assert.deepInclude(ask("--quick").scenario, { seed: 20_000, hours: 0.1 })
    const given = file("given.json", `{"seed": 5, "hours": 2}`)
    assert.deepInclude(ask("--scenario", given).scenario, { seed: 5, hours: 2 })
    assert.deepInclude(ask("--scenario", given, "--seed", "6", "--hours", "1").scenario, { seed: 6, hours: 1 })
    const marked = file("marked.json", `\uFEFF{"$schema": "../scenario.schema.json", "seed": 5}`)
    assert.strictEqual(ask("--scenario", marked).scenario.seed, 5)
    assert.strictEqual(ask("--days", "365", "--hours", "24").scenario.hours, 366 * 24)
    assert.strictEqual(ask("--until-failure").runs, Number.POSITIVE_INFINITY)
  })

  it("says what shows a run again", () => {
    assert.strictEqual(
      ask("--days", "2", "--hours", "3", "--runs", "9").again(7),
      "npm run simulate -- --days 2 --hours 3 --seed 7"
    )
    const quoted = ask("--scenario", file("it's one.json", "{}")).again(7)
    assert.strictEqual(quoted, `npm run simulate -- --scenario '${directory}/it'\\''s one.json' --seed 7`)
  })

  it("refuses what makes no sense before it runs, with what would", () => {
    const wrong = file("wrong.json", `{"gpus": 1, "oops": 2}`)
    const broken = file("broken.json", "{")
    const cases: ReadonlyArray<readonly [ReadonlyArray<string>, RegExp]> = [
      [["--days", "x"], /--days must be a whole number from 1, not x/],
      [["--days", "1000000000"], /--days must be 8784 hours at most, not 24000000000/],
      [["--hours", "9999999"], /--hours must be 8784 hours at most/],
      [["--days", "366", "--hours", "1", "--quick"], /--days and --hours must be 8784 hours at most, not 8785/],
      [["--runs", ""], /--runs must be a whole number/],
      [["--nothing"], /--nothing/],
      [["--scenario", join(directory, "none.json")], /--scenario .*none\.json can't be read: ENOENT/],
      [["--scenario", broken], /broken\.json: This is not JSON/],
      [["--scenario", wrong], /wrong\.json: This is not a scenario:[^]*oops: [^]*gpus: /],
      [["--scenario", wrong, "--quick"], /leave out/],
      [["--report", join(directory, "none", "r.html")], /--report .* can't be written: ENOENT/],
      [["--report", directory], /it is a directory/]
    ]
    for (const [args, why] of cases) assert.throws(() => ask(...args), why)
    const refused = run("--report", directory)
    assert.strictEqual(refused.status, 2)
    assert.include(refused.stderr, "npm run simulate -- [options]")
  })

  it("tells what came of one run and of many, to people and programs", { timeout: 300_000 }, () => {
    const report = join(directory, "report.html")
    const one = run("--quick", "--seed", "3", "--json", "--report", report)
    assert.strictEqual(one.status, 0, one.stderr)
    assert.deepInclude(JSON.parse(one.stdout), { seed: 3, violation: null })
    assert.isTrue(existsSync(report))
    const many = run("--quick", "--seed", "3", "--runs", "2", "--json", "--report", join(directory, "many.html"))
    assert.deepStrictEqual(JSON.parse(many.stdout), { runs: 2, seed: 3, violation: null })
    assert.include(many.stderr, "no picture")
    assert.isFalse(existsSync(join(directory, "many.html")))
  })

  it("tells a run that could not be done from a request that makes no sense", { timeout: 300_000 }, () => {
    const brief = file("brief.json", `{"hours": 0.01, "jobsPerHour": 0, "workspaces": 1}`)
    const full = run("--scenario", brief, "--report", "/dev/full")
    assert.strictEqual(full.status, 3, full.stderr)
    assert.include(full.stderr, "ENOSPC")
    assert.notInclude(full.stderr, "[options]")
  })
})
