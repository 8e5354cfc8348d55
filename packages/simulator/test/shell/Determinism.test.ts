/** What the interpreter lacks is as in bash: commands whose names are expanded, `exit` within a trap's reach. */
import { describe, expect, it } from "@effect/vitest"
import { execute } from "../../src/shell/Execution.ts"
import { asBash } from "../support/Outcomes.ts"
import { runOf, START } from "../support/Runs.ts"

describe("a name of several words:", () => {
  asBash([
    ['run() { "$@"; }; run echo a "b  c"; run false || echo $?', "a b  c\n1\n"],
    [
      'cmd=(echo a "b c"); "${cmd[@]}" d; cmd+=(e); "${cmd[@]}" | tee log; X=1 "${cmd[@]:0:2}"',
      "a b c d\na b c e\na\n"
    ],
    ["PY='echo -n'; $PY t; $EMPTY echo u; $(echo echo v) w", "tu\nv w\n"],
    ['n=0; try() { [ $((n += 1)) = 3 ]; }; retry() { until "$@"; do echo $n; done; }; retry try', "1\n2\n"],
    [
      'set -euo pipefail; f() { echo in; false; echo on; }; run() { "$@"; }; run f || echo no; run f; echo no',
      "in\non\nin\n",
      1
    ],
    ['(c=(echo forked); "${c[@]}") & wait; a="x y"; "$a" 2>/dev/null; echo $?', "forked\n127\n"]
  ])

  it("runs on the machine's clock", async () => {
    const { exit } = await execute(runOf('run() { "$@"; }; run sleep 5; run run sleep 2'))
    expect(exit).toEqual({ at: START + 7000, code: 0 })
  })
})
