/** The explanations that a log adds to bash's messages: missing programs, Windows line ends, limits. */
import { describe, expect, it } from "@effect/vitest"
import { asBash, outcome } from "./support/Outcomes.ts"

const LACKING =
  "simulated machine: a program is missing; it has bash and the usual text tools, but no Python, CUDA or network; " +
  "`programs` of a scenario can stand in for it\n"
const WINDOWS =
  "simulated machine: the script has Windows line ends (CRLF), which bash takes for a part of its words; save it with Unix " +
  "line ends (LF), as by `sed -i 's/\\r$//' FILE`\n"
const missing = (name: string) => `bash: ${name}: command not found\n`

describe("a missing program is explained once, wherever it is missing", () => {
  asBash([
    ["python a | cat; echo next", `${missing("python")}${LACKING}next\n`],
    ["python a || echo fallback", `${missing("python")}${LACKING}fallback\n`],
    ["git a; python b; echo c; exit 3", `${missing("git")}${LACKING}${missing("python")}c\n`, 3],
    [
      "x=$(python a); (curl x); f() { nope; }; f",
      `${missing("python")}${LACKING}${missing("curl")}${missing("nope")}`,
      127
    ],
    ["timeout 5 python x | cat; echo a | xargs git; true", `${missing("python")}${LACKING}${missing("git")}`],
    ["python a 2>&1 | tee log; true", `${missing("python")}${LACKING}`],
    [
      "printf '#!/usr/bin/env python\\n' > p; chmod +x p; ./p; true",
      `/usr/bin/env: 'python': No such file or directory\n${LACKING}`
    ],
    ["python a > log 2>&1", LACKING, 127],
    ["python a 2> /dev/null || echo no", "no\n"],
    [
      "echo 'x: command not found'; ls nothing",
      "x: command not found\nls: cannot access 'nothing': No such file or directory\n",
      2
    ]
  ])
})

describe("a script with Windows line ends fails as in bash, and the log says why", () => {
  asBash([
    [
      "cd /tmp\r\nnope x\r\n\r\necho done\r\n",
      `bash: cd: $'/tmp\\r': No such file or directory\n${WINDOWS}${missing("nope")}${LACKING}${missing("$'\\r'")}done\r\n`
    ],
    ["echo hi\r\nexit 0\r\n", `hi\r\nbash: exit: 0\r: numeric argument required\n${WINDOWS}`, 2],
    ["printf 'nope\\r\\n' > t; bash t", `${missing("$'nope\\r'")}${WINDOWS}`, 127],
    [
      "printf '#!/bin/bash\\r\\necho hi\\r\\n' > t; chmod +x t; ./t",
      `bash: ./t: cannot execute: required file not found\n${WINDOWS}`,
      127
    ],
    [
      "printf '#!/usr/bin/env bash\\r\\n' > t; chmod +x t; ./t",
      `/usr/bin/env: 'bash\\r': No such file or directory\n${WINDOWS}`,
      127
    ],
    ["printf 'a\\r\\nb\\r\\n' | tr -d '\\r'; printf 'c\\r\\n'; false", "a\nb\nc\r\n", 1]
  ])

  it("for one that can't be parsed, of a command and of a file", async () => {
    for (const [script, code] of [
      ["if true; then\r\n echo b\r\nfi\r\n", 2],
      ["for i in 1 2; do\r\n  echo $i\r\ndone\r\n", 2],
      ["printf 'if true; then\\r\\n:\\r\\nfi\\r\\n' > t; . ./t", 1],
      ["printf 'if true; then\\r\\n:\\r\\nfi\\r\\n' > t; chmod +x t; ./t", 2]
    ] as const) {
      const [output, exit] = await outcome(script)
      expect([script, exit, output.endsWith(WINDOWS), output.split(WINDOWS).length]).toEqual([script, code, true, 2])
      expect(output).toContain("Parse error")
    }
  })
})

describe("counting", () => {
  it("a log gets 1,700,000 lines of seq, whole and in order", async () => {
    const [output, code] = await outcome("seq 1700000")
    const lines = output.split("\n")
    expect([code, output.length, lines.length]).toEqual([0, 12_488_896, 1_700_001])
    expect(lines.slice(0, -1).every((line, at) => line === String(at + 1))).toBe(true)
  })

  asBash([
    ["seq 100001 | tail -n 1; seq 5 -1 -200000 | tail -n 1; seq -5 2 300000 | wc -l", "100001\n-200000\n150003\n"],
    ["seq -s, 1 2 300001 | tail -c 14", "299999,300001\n"],
    ["seq 10000000; echo $?", "seq: simulated machine: limit of 67108864 bytes\n1\n"]
  ])

  for (const loop of [
    "for i in $(seq 1000000); do :; done",
    "i=0; while ((i<1000000)); do ((i++)); done",
    "for i in {1..1000000}; do :; done",
    "for ((i=0;i<1000000;i++)); do :; done",
    "seq 0.5 1000000",
    "f() { f; }; f"
  ])
    it(`${loop} ends at a limit that has a number`, async () => {
      const [output, code] = await outcome(`${loop}; echo never`)
      expect([code, output]).toEqual([126, expect.stringMatching(/; simulated machine: limit of \d+( commands)?\n$/)])
    })
})
