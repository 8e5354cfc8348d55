/** Pure parts of the command line: amounts, durations, shell words, terminal facts, error texts. */
import { describe, expect, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { execFileSync } from "node:child_process"
import { exitCodeOf, Refused, Unreachable, UsageWrong } from "../src/connection/Failure.ts"
import { failureJson, failureText, issueText } from "../src/connection/FailureText.ts"
import { minutesOf } from "../src/jobs/DurationText.ts"
import { envPair, strayLines } from "../src/jobs/JobBody.ts"
import { exitCodeOfJob } from "../src/jobs/Run.ts"
import { shellCommand } from "../src/jobs/ShellWords.ts"
import { duration, limit, size, usd } from "../src/terminal/Amounts.ts"
import { factsOf } from "../src/terminal/Facts.ts"
import { makeInterrupts } from "../src/terminal/Interrupts.ts"
import { oneLine, table } from "../src/terminal/Table.ts"

describe("amounts", () => {
  it("amounts have the decimals that matter", () => {
    const amounts = [0, 1.875, 0.999, 0.42, 0.05, 0.0421, 0.00042, 0.000000001, 1234567.5, -2.5]
    const texts = [
      "$0.00",
      "$1.88",
      "$1.00",
      "$0.42",
      "$0.050",
      "$0.042",
      "$0.00042",
      "$0.000000001",
      "$1,234,567.50",
      "-$2.50"
    ]
    expect(amounts.map(usd)).toEqual(texts)
  })

  it("durations and sizes have readable units", () => {
    expect([0, 450, 9_999, 65_000, 3_783_000, 273_600_000].map(duration)).toEqual([
      "0.0s",
      "0.4s",
      "9s",
      "1m 05s",
      "1h 03m",
      "3d 04h"
    ])
    expect([20, 90, 120, 1_440].map(limit)).toEqual(["20m", "1h 30m", "2h", "24h"])
    expect([1, 1_204, 15_400, 2_500_000].map(size)).toEqual(["1 byte", "1,204 bytes", "15 kB", "2.5 MB"])
  })
})

describe("durations typed by people", () => {
  it("typed durations become whole minutes, rounded up", () => {
    const typed = ["30m", "90s", "1h30m", "2d", "1H", " 45m "]
    expect(typed.map((text) => Result.getOrUndefined(minutesOf(text)))).toEqual([30, 2, 90, 2_880, 60, 45])
  })

  it("typed durations need a unit and an amount", () => {
    for (const text of ["", "30", "m", "0m", "-5m", "1.5h", "30m1h", "1w"])
      expect(Result.isFailure(minutesOf(text))).toBe(true)
  })
})

describe("shell words", () => {
  it("a single shell word stays a script", () => {
    expect(shellCommand(["cd /x && ls | wc -l"])).toBe("cd /x && ls | wc -l")
  })

  it("a plain command stays unquoted", () => {
    expect(shellCommand(["python", "t.py", "--lr=0.1", "a b", ""])).toBe("python t.py --lr=0.1 'a b' ''")
  })

  it.prop(
    "a shell reads every quoted word back as it was typed",
    [Schema.Array(Schema.String.check(Schema.isMaxLength(12))).check(Schema.isMinLength(1), Schema.isMaxLength(4))],
    ([words]) => {
      const typed = words.map((word) => word.replaceAll("\0", "").toWellFormed())
      const out = execFileSync("sh", ["-c", shellCommand(["printf", "%s\\0", ...typed])], { encoding: "utf8" })
      expect(out.split("\0").slice(0, -1)).toEqual(typed)
    }
  )
})

describe("variables of a job", () => {
  it("variables of a job keep everything after the first =, or come from the caller's environment", () => {
    expect(Result.getOrUndefined(envPair("A=b=c", {}))).toEqual(["A", "b=c"])
    expect(Result.getOrUndefined(envPair("TOKEN", { TOKEN: "s3cret" }))).toEqual(["TOKEN", "s3cret"])
    expect(Result.isFailure(envPair("NONE", {}))).toBe(true)
  })

  it("a file of variables gives all its lines, or names the invalid line", () => {
    expect(strayLines("A=1\n# no\n\nexport B = \"two\nlines=no\n\" # end\nC='x'\n")).toEqual([])
    expect(strayLines("A=1\nsecret\nB: 2\n")).toEqual([2, 3])
  })
})

describe("exit codes", () => {
  const job = (status: Parameters<typeof exitCodeOfJob>[0]["status"], exit_code: number | null = null) =>
    exitCodeOfJob({ status, exit_code })

  it("the exit code of a job is its command's, or stands for another end", () => {
    const codes = [job("succeeded", 0), job("failed", 7), job("failed"), job("timed_out"), job("cancelled")]
    expect(codes).toEqual([0, 7, 1, 124, 130])
  })

  it("the exit code of a failure tells usage, key and retry apart", () => {
    const refused = (status: number, code = "x") =>
      exitCodeOf(new Refused({ status, code, text: "", details: {}, requestId: null }))
    expect([401, 403, 422, 429, 503, 402, 404, 500].map((status) => refused(status))).toEqual([
      77, 77, 2, 75, 75, 1, 1, 1
    ])
    expect(refused(409, "idempotency_in_progress")).toBe(75)
    expect(exitCodeOf(new Unreachable({ url: "", reason: "", advice: "" }))).toBe(75)
    expect(exitCodeOf(new UsageWrong({ issues: [] }))).toBe(2)
  })
})

describe("failures", () => {
  const invalid = new Refused({
    status: 422,
    code: "validation_error",
    text: "See details.issues.",
    details: {
      issues: [
        { path: "gpu_type", message: "must be one of H100" },
        { path: "env.1X", message: "bad" }
      ]
    },
    requestId: "req-1"
  })

  it("failures name the flags and the request id", () => {
    expect(failureText(invalid)).toBe("sluice: --gpu must be one of H100\n        -e 1X: bad\n        (request req-1)")
  })

  it("failures name commands in place of requests", () => {
    const refused = (text: string) =>
      failureText(new Refused({ status: 404, code: "not_found", text, details: {}, requestId: null }))
    expect(refused("There is no such job here. GET /api/v1/jobs lists the existing ones.")).toBe(
      "sluice: There is no such job here. sluice jobs list lists the existing ones."
    )
    expect(issueText("max_runtime_minutes", "must be an integer from 1 to 1440")).toBe(
      "--timeout must be minutes from 1 to 1440"
    )
  })

  it("failures as JSON keep code and details", () => {
    expect(failureJson(invalid)).toMatchObject({ code: "validation_error", status: 422, request_id: "req-1" })
  })

  it("failures print no control characters", () => {
    expect(oneLine("a\u001b[31mb\nc")).toBe("a [31mb \u23ce c")
    expect(table(["A"], [["x\u0007y"]])).toBe("A\nx y")
  })
})

describe("the terminal", () => {
  const given = {
    args: [],
    variables: {},
    isStdinTerminal: true,
    isStdoutTerminal: true,
    isStderrTerminal: true,
    columns: 100
  }

  it("no question and no redrawing happen without a terminal or with --json", () => {
    expect(factsOf(given)).toMatchObject({ isLive: true, isInteractive: true, hasColours: true })
    expect(factsOf({ ...given, isStderrTerminal: false })).toMatchObject({
      isLive: false,
      isInteractive: false,
      hasColours: false
    })
    expect(factsOf({ ...given, args: ["jobs", "--json", "list"] })).toMatchObject({
      isJson: true,
      isLive: false,
      isInteractive: false
    })
    expect(factsOf({ ...given, args: ["jobs", "run", "--", "x", "--json"] }).isJson).toBe(false)
  })

  it("colours follow NO_COLOR, FORCE_COLOR and TERM=dumb", () => {
    const colours = (variables: Record<string, string>, terminal = true) =>
      factsOf({ ...given, isStdoutTerminal: terminal, isStderrTerminal: terminal, variables }).hasColours
    expect(colours({ NO_COLOR: "1", FORCE_COLOR: "1" })).toBe(false)
    expect(colours({ FORCE_COLOR: "1" }, false)).toBe(true)
    expect(colours({ TERM: "dumb" })).toBe(false)
  })

  it("one press of Ctrl-C that arrives several times counts once", () => {
    let now = 0
    const ended: Array<string> = []
    const { onSignal } = makeInterrupts(
      () => now,
      () => {}
    )
    const press = (at: number) => {
      now = at
      onSignal("SIGINT", (signal) => ended.push(signal))
    }
    for (const at of [1_000, 1_005, 1_020]) press(at)
    expect(ended).toEqual(["SIGINT"])
    press(1_500)
    expect(ended).toHaveLength(2)
  })
})
