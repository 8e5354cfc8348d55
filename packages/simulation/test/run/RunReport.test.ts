/** What is known of a failure is told before what takes long, and whatever becomes of its files. */
import { assert, describe, it } from "@effect/vitest"
import { planOf } from "../../src/plan/PlanOf.ts"
import { decodeScenario, quickScenario } from "../../src/scenario/Scenarios.ts"
import { parseOptions } from "../../src/run/CliOptions.ts"
import { reportRun, type ReportOutputs } from "../../src/run/RunReport.ts"
import { Effect } from "effect"
import { broken, outcome } from "../report/support/Outcomes.ts"

const QUICK = quickScenario(4)
const plan = { ...planOf(QUICK), items: planOf(QUICK).items.slice(0, 1) }

/** What was told, in order, and which files there are. */
const told = async (args: ReadonlyArray<string>, ways: Partial<ReportOutputs> = {}, of = broken) => {
  const lines: Array<string> = []
  const files = new Map<string, string>()
  const failure = await reportRun({ ...parseOptions(["--quick", ...args], 1), report: "fleet.html" }, of, {
    out: (text) => lines.push(`out: ${text}`),
    aside: (text) => lines.push(`aside: ${text}`),
    write: (file, text) => files.set(file, text),
    smallest: () => {
      lines.push("looks for a smaller one")
      return Promise.resolve({ scenario: { ...QUICK, plan }, runs: 9 })
    },
    ...ways
  }).catch((error: unknown) => error)
  return { lines, files, failure }
}
const full = () => {
  throw new Error("no room")
}

describe("A failure", () => {
  it("is told with its command and its picture before a smaller one is looked for, which is told then", async () => {
    const { files, lines } = await told(["--hours", "2"])
    assert.strictEqual(lines.length, 4)
    assert.match(lines[0]!, /^out: [^]*BROKEN: I1[^]*npm run simulate -- --quick --hours 2 --seed 4$/)
    assert.strictEqual(lines[1], "aside: the picture is in fleet.html")
    assert.strictEqual(lines[2], "looks for a smaller one")
    assert.match(
      lines[3]!,
      /^out: \nthe same breaks with 1 item of the plan and launch_refused, [^]*\(found in 9 runs\):/
    )
    assert.include(lines[3], "  npm run simulate -- --scenario simulation-4.json")
    const scenario = await Effect.runPromise(decodeScenario(JSON.parse(files.get("simulation-4.json")!)))
    assert.deepStrictEqual(scenario.plan, plan)
  })

  it("is told to programs with both commands, and to who waits for it meanwhile", async () => {
    const { lines } = await told(["--json"])
    assert.match(lines[0]!, /^aside: BROKEN: I1[^]*--quick --seed 4$/)
    const report = JSON.parse(lines.at(-1)!.slice("out: ".length))
    assert.strictEqual(report.command, "npm run simulate -- --quick --seed 4")
    assert.deepInclude(report.smaller, { file: "simulation-4.json", problem: null, runs: 9, items: 1 })
    assert.strictEqual(report.smaller.command, "npm run simulate -- --scenario simulation-4.json")
    assert.isNull(JSON.parse((await told(["--json", "--no-shrink"])).lines.at(-1)!.slice(5)).smaller)
  })

  it("is told whole where no file can be written", async () => {
    const { failure, lines } = await told([], { write: full })
    assert.isUndefined(failure)
    assert.strictEqual(lines[1], "aside: the picture can't be written: no room")
    assert.match(lines[3]!, /simulation-4\.json can't be written \(no room\)[^]*\n {2}\{"seed":4,/)
  })

  it("has no file that would be refused", async () => {
    const wrong = { ...QUICK, plan: { ...plan, items: [{ ...plan.items[0]!, at: -1 }] } }
    const { files, lines } = await told([], { smallest: () => Promise.resolve({ scenario: wrong, runs: 1 }) })
    assert.include(lines.at(-1), "This is not a scenario")
    assert.isFalse(files.has("simulation-4.json"))
  })

  it("has a command without a smaller one, too", async () => {
    const { lines } = await told(["--no-shrink"])
    assert.strictEqual(lines.length, 2)
    assert.include(lines[0], "npm run simulate -- --quick --seed 4")
  })
})

it("A run that is fine needs its picture", async () => {
  const { failure, lines } = await told([], { write: full }, outcome([]))
  assert.include(String(failure), "no room")
  assert.strictEqual(lines.length, 1)
})
