/** The trace of `set -x` appears when its command runs, in front of the command's output. */
import { expect, it } from "@effect/vitest"
import { execute } from "../src/Execution.ts"
import { asBash } from "./support/Outcomes.ts"
import { runOf, START } from "@sluice/testing/fixtures/ShellRuns"

// An `exit` is not traced, and a function is traced after it has run.
asBash([
  [
    "set -ex; mkdir -p out; x=3; echo x is $x; if [ $x -gt 2 ]; then echo big; fi; ls /no || true; echo a | tr a b; set +x; x=4; echo quiet; false; echo no",
    "+ mkdir -p out\n+ x=3\n+ echo x is 3\nx is 3\n+ '[' 3 -gt 2 ']'\n+ echo big\nbig\n+ ls /no\nls: cannot access '/no': No such file or directory\n+ true\n+ echo a\n+ tr a b\nb\n+ set +x\nquiet\n",
    1
  ],
  [
    "set -x; f() { echo in; }; f a; (exit 3) & wait $!; eval 'echo e'",
    "+ echo in\nin\n+ f a\n+ wait 100\n+ echo e\ne\n"
  ],
  ["set -o xtrace; { x=1; : $x; }; true | cat; exit 2", "+ x=1\n+ : 1\n+ true\n+ cat\n", 2]
])

it("the trace of a command appears at the time of the command", async () => {
  const { chunks } = await execute(runOf("set -x; a=1; sleep 2; b=2; sleep 1; echo $b"))
  expect(chunks.map(({ at, bytes }) => [(at - START) / 1000, Buffer.from(bytes).toString()])).toEqual([
    [0, "+ a=1\n"],
    [2, "+ sleep 2\n+ b=2\n"],
    [3, "+ sleep 1\n+ echo 2\n2\n"]
  ])
})
