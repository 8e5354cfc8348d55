/**
 * Scripts that `eval` and `.` run read the machine's time and random numbers, write when they run, and act on their
 * shell.
 */
import { describe, expect, it } from "@effect/vitest"
import { execute } from "../src/Execution.ts"
import { asBash, outcome } from "./support/Outcomes.ts"
import { runOf, START } from "@sluice/testing/fixtures/ShellRuns"

describe("a text that a shell evaluates", () => {
  asBash([
    [
      "echo 'set -u; v=${1:-none}; echo $v $#; f() { echo f $1; }; return 3; echo no' > lib; . ./lib a b; echo $? $v $#; source lib; f x; (exit 4); eval 'echo $?'",
      "a 2\n3 a 0\nnone 0\nf x\n4\n"
    ],
    ["eval; echo $?; eval 'x=1;' 'echo $x'; y=$(eval 'echo a; echo b'); echo $y; eval 'exit 4'", "0\n1\na b\n", 4],
    [
      `mkdir -p bin lib; echo 'echo "lib \${BASH_SOURCE[0]} $0"; where() { echo "\${FUNCNAME[0]} $BASH_SOURCE"; }; [ "\${BASH_SOURCE[0]}" = "$0" ] || echo sourced' > lib/a; echo 'set -u; cd "$(dirname "\${BASH_SOURCE[0]}")/.."; . lib/a; where; [[ "\${BASH_SOURCE[0]}" == "$0" ]] && echo main' > bin/run; chmod +x bin/run; bin/run; cd bin; bash run; . ../lib/a; where; echo "[\${BASH_SOURCE[0]:-}]"`,
      "lib lib/a bin/run\nsourced\nwhere lib/a\nmain\nlib lib/a run\nsourced\nwhere lib/a\nmain\nlib ../lib/a bash\nsourced\nwhere ../lib/a\n[]\n"
    ],
    ["eval 'sleep 1; echo a $SECONDS; (sleep 2; echo job) & wait $!'; echo $? $SECONDS", "a 1\njob\n0 3\n"]
  ])

  for (const command of ["eval 'echo $RANDOM'", "echo 'echo $RANDOM' > lib; . ./lib"])
    it(`draws the machine's random numbers: ${command}`, async () => {
      expect(await outcome(command)).toEqual(await outcome("echo $RANDOM"))
    })

  for (const command of [
    "eval 'echo a; sleep 2; echo $SECONDS'",
    "echo 'echo a; sleep 2; echo $SECONDS' > lib; . ./lib"
  ])
    it(`writes line by line: ${command}`, async () => {
      const { chunks } = await execute(runOf(command))
      expect(chunks.map(({ at }) => at)).toEqual([START, START + 2000])
    })
})

describe("an exported function", () => {
  asBash([
    [
      "hello() { echo \"hi $1\"; }; both() { hello \"$1\"; echo \"on ${2:-cpu}\"; }; export -f hello both; echo a b | xargs -n1 bash -c 'both \"$0\"'; timeout 5 bash -c 'hello t | cat'; (bash -c 'hello sub' & wait); bash -c 'hello() { echo mine; }; hello'",
      "hi a\non cpu\nhi b\non cpu\nhi t\nhi sub\nmine\n"
    ],
    [
      "f() { return 3; }; export -f f; echo 'f || echo f $?' > s.sh; bash s.sh; bash -c f; export -f no 2> /dev/null",
      "f 3\n",
      1
    ]
  ])
})
