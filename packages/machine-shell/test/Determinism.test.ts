/**
 * Features that the interpreter lacks work as in bash: expanded command names, scripts that run by their path. The time
 * and random numbers are the machine's.
 */
import { describe, expect, it } from "@effect/vitest"
import { execute } from "../src/Execution.ts"
import { asBash, outcome } from "./support/Outcomes.ts"
import { runOf, START } from "@sluice/testing/fixtures/ShellRuns"

describe("a command name of several words", () => {
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

  asBash([
    [
      'f() { echo in $1; sleep 1; return $2; }; ! time f x 3; echo $?; c=(f y 0); ! time "${c[@]}" | cat; echo $?',
      "in x\n\nreal\t0m1.000s\nuser\t0m0.000s\nsys\t0m0.000s\n0\nin y\n\nreal\t0m1.000s\nuser\t0m0.000s\nsys\t0m0.000s\n1\n"
    ]
  ])

  it("runs on the machine's clock", async () => {
    const { exit } = await execute(runOf('run() { "$@"; }; run sleep 5; run run sleep 2'))
    expect(exit).toEqual({ at: START + 7000, code: 0 })
  })
})

describe("a script that is run by its path", () => {
  const script =
    "echo 'set -u; f() { echo \"${1:-none}\"; return 3; }; f $1 || echo r $0 $#; exit 4' > s.sh; chmod +x s.sh;"
  asBash([
    [
      `${script} ./s.sh a b; echo $?; ./s.sh "" > out || cat out; (./s.sh x) | cat; mkdir d; cd d; "$(dirname "$PWD")/s.sh" y; exec ../s.sh z`,
      "a\nr ./s.sh 2\n4\nnone\nr ./s.sh 1\nx\nr ./s.sh 1\ny\nr /workspace/s.sh 1\nz\nr ../s.sh 1\n",
      4
    ],
    [
      `${script} X=1 timeout 9 ./s.sh t; ./s.sh j & wait $!; echo $?; ./no; echo $?; : > n; ./n; echo $?; echo 'cat; echo $X' > s.sh; echo in | X=2 ./s.sh; /usr/bin/env X=3 ./s.sh < /dev/null; "$PWD"/../bin/echo hi`,
      "t\nr ./s.sh 1\nj\nr ./s.sh 1\n4\nbash: ./no: No such file or directory\n127\nbash: ./n: Permission denied\n126\nin\n2\n3\nhi\n"
    ]
  ])

  it("reads the machine's clock and random numbers, and writes line by line", async () => {
    const command =
      "echo 'echo $SECONDS; sleep 2; echo $((SECONDS + 0 * RANDOM))' > s.sh; chmod +x s.sh; ./s.sh; echo $RANDOM"
    const { chunks, exit } = await execute(runOf(command))
    expect(chunks.map(({ at }) => at)).toEqual([START, START + 2000])
    expect(exit?.code).toBe(0)
    expect((await outcome("echo 'echo $RANDOM' > s.sh; chmod +x s.sh; ./s.sh"))[0]).toBe(
      (await outcome("echo $RANDOM"))[0]
    )
  })
})

describe("a variable with the machine's time", () => {
  asBash([
    ["s=$EPOCHSECONDS; sleep 2; echo $s $((EPOCHSECONDS - s)) $EPOCHREALTIME", "1700000000 2 1700000002.000000\n"]
  ])
})

describe("a tool that reads the machine's time", () => {
  asBash([
    [
      "awk 'BEGIN { srand(); print systime(), srand() }'; sleep 60; jq -n 'now|todate' && echo '{\"now\":1}' | jq -c '.now, {now: 2}, \"now\"'; yq -n 'now|floor'",
      '1700000000 1700000000\n"2023-11-14T22:14:20Z"\n1\n{"now":2}\n"now"\n1700000060\n'
    ],
    [
      'touch -d "3 days ago" a; touch -d "90 minutes ago" b; touch c; for e in "-mtime +1" "-mtime 3" "-mtime -1" "-mmin -91" "-mmin +89" "-mmin 91" "-newermt yesterday" "! -newermt 2023-11-12" "-mmin 1 -o -name c"; do echo $(find . -type f $e | sort); done; find . -mtime x; find . -mmin +5 -delete; ls; ls -A /proc/self/fd | wc -l',
      "./a\n./a\n./b ./c\n./b ./c\n./a ./b\n\n./b ./c\n./a\n./c\nfind: invalid argument 'x' to '-mtime'\nc\n3\n"
    ],
    [
      "mkdir d; touch d/a.txt 'd/b c.txt' d/e.log; find d -name '*.txt' -exec sh -c 'echo \"got {}\"' \\; | sort; find d -name '*.log' -exec mv {} {}.bak \\; ; find d -name '*.bak' -exec bash -c 'echo \"$0\" {}' {} \\; -print; find d -type f -exec echo {} + | wc -l; cd d; find . -name 'a*' -exec cp {} {}.copy \\; -exec echo copied {} \\;",
      "got d/a.txt\ngot d/b c.txt\nd/e.log.bak d/e.log.bak\nd/e.log.bak\n1\ncopied ./a.txt\n"
    ],
    [
      "touch a b; find . -type f -print -quit | wc -l; find a b -quit; find no -quit",
      "1\na\nfind: no: No such file or directory\n",
      1
    ]
  ])
})

describe("awk with the machine's random numbers", () => {
  asBash([
    [
      "awk 'BEGIN { srand(5); a = rand(); b = rand(); srand(5); print (a == rand()), (a == b), (a >= 0 && a < 1), srand(6) }'; srand=1; awk 'function grand(x) { return x } { print grand($1), \"rand()\" }' <<< 2",
      "1 0 1 5\n2 rand()\n"
    ],
    [
      "echo 'BEGIN { n = 2 } { print $1 * n }' > p.awk; awk -fp.awk <<< 4; echo 1:5 | awk -F: -v n=3 -f p.awk; awk -f no <<< 4; echo $?",
      "8\n2\nawk: cannot open no (No such file or directory)\n2\n"
    ]
  ])

  it("draws the same numbers in each run, and new ones in each call", async () => {
    const command = "for i in 1 2; do awk 'BEGIN { srand(); print rand(), rand() }'; awk 'BEGIN { print rand() }'; done"
    const [text] = await outcome(command)
    expect(await outcome(command)).toEqual([text, 0])
    expect(new Set(text.split(/\s/)).size).toBe(7)
  })
})
