/** Background jobs, signals and `wait` work as in bash. */
import { describe, expect, it } from "@effect/vitest"
import { execute } from "../src/Execution.ts"
import { asBash, outcome } from "./support/Outcomes.ts"
import { runOf, START } from "@sluice/testing/fixtures/ShellRuns"

describe("a background job", () => {
  asBash([
    ["sleep 5 & kill -9 $!; wait $! 2>/dev/null; echo $?; sleep 5 & kill -s INT $!; wait $!; echo $?", "137\n130\n"],
    ["(sleep 0.1; exit 3) & sleep 5 & wait -n; echo $?; kill %2; wait -n; echo $?; wait -n; echo $?", "3\n143\n127\n"],
    [
      'sleep 1 & [ "$(jobs -p)" = "$!" ] && echo same; kill -0 $! && kill -STOP $! && kill -CONT $! && echo on',
      "same\non\n"
    ],
    ["timeout -s TERM 0.1 sleep 1; echo $?; timeout -k 1 0.1 sleep 1; echo $?", "124\n124\n"],
    ["(sleep .1 & sleep .2 & wait; echo inner) & wait; echo outer", "inner\nouter\n"],
    [
      "sleep 9 & p=$!; (sleep .1 & wait %1; wait -n; echo $?; jobs -p | wc -l; wait $p 2>f; echo $?; kill $p) & wait $p; echo $?",
      "127\n0\n127\n143\n"
    ],
    [
      'a=(x "y\'z" $\'n\\nl\'); declare -A m=([k]="v w"); (printf "[%s]" "${a[@]}" "${m[k]}"; a+=(1); echo ${#a[@]} & wait) & wait; echo ${#a[@]}',
      "[x][y'z][n\nl][v w]4\n3\n"
    ],
    [
      'f() { local -a l=("a b" c); (sleep .1; echo "${l[0]}") & g & wait; }; g() { echo g; }; readonly R=(5 6); f; O=(7 8); readonly O; echo "${R[1]}${O[1]}" & wait',
      "g\na b\n68\n"
    ],
    [
      "( ( echo nested ) & ( ( exit 3 ) ) & wait $!; echo $? ) & wait; (set -e; false || x=1; (false); echo no) & wait $! || echo $?",
      "nested\n3\n1\n"
    ],
    ["kill -0 $$ && echo here; kill -NOPE $$ 2>/dev/null; echo $?", "here\n1\n"]
  ])

  it("that is killed with SIGKILL exits with 137", async () => {
    expect(await outcome("timeout -s KILL 1 sleep 9; echo $?; timeout --signal=9 1 sleep 9; echo $?")).toEqual([
      "137\n137\n",
      0
    ])
  })
})

describe("a background job of captured output", () => {
  asBash([
    ["{ (exit 3) & wait $!; echo $?; } > log; cat log; exec > log; (exit 4) & wait $!; exit $?", "3\n", 4],
    [
      "f() { (exit 4) & wait $!; return $?; }; f > o; echo $?; y=$( (exit 5) & wait $!; echo $?); echo $y; f | cat; echo ${PIPESTATUS[0]}",
      "4\n5\n4\n"
    ],
    [
      'main() { local p=() bad=0; for i in 1 2 3; do work $i & p+=($!); done; for one in "${p[@]}"; do wait $one || bad=$((bad+1)); done; echo bad $bad; }; work() { sleep $i; echo work $1; [ $1 != 2 ]; }; main 2>&1 | tee log',
      "work 1\nwork 2\nwork 3\nbad 1\n"
    ],
    [
      "z=$( { v=9; echo $v; } & wait; echo [$v]); echo $z; { sleep 2 & sleep 3 & wait; echo $SECONDS; } | cat",
      "9 []\n3\n"
    ],
    [
      "beat() { while true; do sleep 60; echo b; done; }; run() { beat & hb=$!; echo train; kill $hb; wait $hb; echo $?; }; run | cat; bash -c 'sleep 1 & wait $!; (exit 6) & wait $!; echo $?' > o; cat o",
      "train\n143\n6\n"
    ]
  ])
})

describe("a command that kills itself ends as in bash", () => {
  const cases: ReadonlyArray<readonly [command: string, output: string, code: number]> = [
    ["echo a; kill $$; echo no", "a\n", 143],
    ["x=1; trap 'echo bye $x $?' EXIT; kill -INT $$; echo no", "bye 1 130\n", 130],
    ["trap '' TERM; kill $$; trap - TERM; echo on; kill $$; echo no", "on\n", 143],
    ["trap 'exit 5' TERM; kill $$; echo on", "kill: TERM: its handler does not run on a simulated machine\non\n", 0],
    ["set -e; trap 'echo e' ERR; echo a", "trap: ERR: its handler does not run on a simulated machine\na\n", 0],
    ["trap 'echo bye' EXIT; kill -9 $$; echo no", "", 137]
  ]
  for (const [command, output, code] of cases)
    it(command, async () => expect(await outcome(command)).toEqual([output, code]))
})

it("a job that never ends by itself leaves commands for the script", async () => {
  const command =
    "( while true; do nvidia-smi >/dev/null; sleep 1; done ) & p=$!; sleep 10; kill $p; wait $p; echo trained $?"
  const { chunks, exit } = await execute(runOf(command, { untilMs: Infinity }))
  expect(chunks.map(({ bytes }) => Buffer.from(bytes).toString())).toEqual(["trained 143\n"])
  expect(exit).toEqual({ at: START + 10_000, code: 0 })
})

it("60 jobs of a script with 300 functions all run", async () => {
  const defined = Array.from({ length: 300 }, (_, at) => `f${at}() { ${"echo word; ".repeat(20)} }`).join("\n")
  expect(await outcome(`${defined}\n${"f0 > /dev/null &\n".repeat(60)}wait; echo done`)).toEqual(["done\n", 0])
})

it("a job that forks without end reports the depth limit without advice to the host", async () => {
  const [output] = await outcome("f() { f | f & }; f; wait")
  expect(output).toMatch(/maximum nested execution depth/)
  expect(output).not.toContain("executionLimits")
})
