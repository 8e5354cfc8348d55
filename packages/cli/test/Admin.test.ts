/** Operator commands on the embedded database of a stopped server. */
import { openEmbedded } from "@sluice/server/database/Database"
import { Effect } from "effect"
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { cli, start } from "./support/Cli.ts"

const directory = mkdtempSync(join(tmpdir(), "sluice-admin-"))
const data = join(directory, "data")
const admin = (...args: ReadonlyArray<string>) => cli(["admin", ...args], { SLUICE_DATA: data })

/** Opens the data directory as a server does, runs `use`, and closes it. */
const openAndClose = <A>(use: Effect.Effect<A>) => Effect.runPromise(Effect.provide(use, openEmbedded(data)))

beforeAll(() => openAndClose(Effect.void))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

describe("sluice admin", () => {
  it("a workspace is created once, its keys any number of times, and credit once per reference", async () => {
    const made = await admin("workspace", "create", "team-a", "--json")
    expect([made.code, JSON.parse(made.out).name]).toEqual([0, "team-a"])
    const twice = await admin("workspace", "create", "team-a")
    expect([twice.code, twice.out]).toEqual([1, ""])
    expect(twice.err).toContain("already")

    const key = await admin("key", "create", "--workspace", "team-a")
    expect(key.out).toMatch(/^svc_live_[0-9A-Za-z]{38}\n$/)
    expect(key.err).not.toContain(key.out.trim())

    const credit = ["credit", "--workspace", "team-a", "--usd", "12.5", "--reference", "invoice-17"]
    const balances = [await admin(...credit, "--json"), await admin(...credit, "--json")]
    expect(balances.map(({ out }) => JSON.parse(out))).toEqual([
      { workspace: "team-a", balance_usd: 12.5, available_usd: 12.5, already_credited: false },
      { workspace: "team-a", balance_usd: 12.5, available_usd: 12.5, already_credited: true }
    ])
    const again = await admin(...credit.with(4, "12.50"))
    expect([again.code, again.out]).toEqual([0, "team-a: balance $12.50\n"])
    expect(again.err).toContain("already credited")

    const refused = await admin(...credit.with(4, "51"), "--json")
    expect([refused.code, refused.out]).toEqual([1, ""])
    expect(JSON.parse(refused.err).error.message).toContain("invoice-17 was credited to team-a with $12.5 already")
  })

  it("admin commands name the mistake and create no data directory", async () => {
    const elsewhere = join(directory, "elsewhere")
    const [nowhere, unknown, amount, name] = [
      await cli(["admin", "key", "create", "--workspace", "x", "--data", elsewhere]),
      await admin("credit", "--workspace", "nobody", "--usd", "1"),
      await admin("credit", "--workspace", "team-a", "--usd", "-1"),
      await admin("workspace", "create", "two\nlines", "--json")
    ]
    expect([nowhere, unknown, amount, name].map(({ code, out }) => `${code}${out}`)).toEqual(["1", "1", "1", "1"])
    expect(existsSync(elsewhere)).toBe(false)
    expect(nowhere.err).toContain("--data")
    expect(unknown.err).toContain("sluice admin workspace create nobody")
    expect(amount.err).toContain("above 0")
    expect(JSON.parse(name.err).error.message).toContain("control characters")
  })

  it("the admin commands of docs/operating.md work", async () => {
    const page = readFileSync(join(import.meta.dirname, "../../../docs/operating.md"), "utf8")
    const shown = [...page.matchAll(/^\$ sluice admin (.+)$/gm)].map(([, args]) => args!.split(" "))
    expect(shown.length).toBeGreaterThan(2)
    for (const args of shown) expect([args, (await admin(...args)).code]).toEqual([args, 0])
  })

  it("admin commands refuse a database that a running server has open", async () => {
    const refused = await openAndClose(
      Effect.promise(() => start(["admin", "workspace", "create", "b", "--data", data]).ended)
    )
    expect([refused.code, refused.out]).toEqual([1, ""])
    expect(refused.err).toContain(`Process ${process.pid} already uses the data directory`)
  })
})
