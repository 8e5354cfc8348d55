/** Output goes to the files that bash writes to, or fails as in bash. */
import { describe, expect, it } from "@effect/vitest"
import { execute } from "../src/Execution.ts"
import { asBash, outcome } from "./support/Outcomes.ts"
import { runOf, START } from "@sluice/testing/fixtures/ShellRuns"

describe("output to a file in a missing directory", () => {
  asBash([
    [
      "echo a > no/x; echo $?; echo a 2>&1 >> no/x || echo not; ls",
      "bash: no/x: No such file or directory\n1\nbash: no/x: No such file or directory\nnot\n"
    ],
    [
      "set -e; train() { echo t; }; train > logs/train.log 2>&1; echo no",
      "bash: logs/train.log: No such file or directory\n",
      1
    ],
    [
      'D=no; for i in 1; do echo $i; done > "$D/y" 2>/dev/null; (echo) 2>/dev/null &> $D/y; echo $?; { :; } 2>/dev/null 3> no/z || echo z',
      "bash: no/y: No such file or directory\n1\nz\n"
    ],
    [
      "x=$(echo a > no/x) || echo $?; (: > no/x && echo no) & wait $! || echo $?; cat <<< a 2>/dev/null > no/x; ls",
      "bash: no/x: No such file or directory\n1\nbash: no/x: No such file or directory\n1\n"
    ],
    ["echo a > f; echo b 2>/dev/null > f/x; echo $?; mkdir -p 2>/dev/null f/d; echo $?; cat f", "1\n1\na\n"],
    [
      "cp /etc/os-release no/a 2>/dev/null; echo $?; echo a | tee no/a 2>/dev/null; ln -s a no/b 2>/dev/null || ls",
      "1\na\n"
    ]
  ])

  it("ends the script when a command gives the file's name", async () => {
    expect(await outcome("echo a; echo b > $(echo no/x); echo no")).toEqual([
      "a\nbash: cannot create '/workspace/no/x': No such file or directory\n",
      1
    ])
  })
})

describe("output to a file in a directory", () => {
  asBash([
    [
      "mkdir -p runs/1; ln -s runs/1 latest; echo a > latest/f; mkdir latest/d; ln -s f latest/g; echo b >> latest/g; cat runs/1/f; ls runs/1",
      "a\nb\nd\nf\ng\n"
    ],
    [
      "mkdir d; { echo a; mv d e; echo b; } > d/f; for i in 1 2; do echo $i; rm -r e; done 2>/dev/null >> e/f; echo $?; ls",
      "1\n"
    ],
    [
      "mkdir d; n=0; for n in 1 2; do echo $n > d/$n; echo x >> d/$n; done; set -C; echo no 2>/dev/null > d/1; cat d/*",
      "1\nx\n2\nx\n"
    ]
  ])
})

describe("output to a file that keeps its mode", () => {
  asBash([
    [
      "echo a > f; stat -c %a f; chmod 750 f; echo b > f; sed -i s/b/c/ f; echo d >> f; cat f; stat -c %a f; echo e > g; stat -c %a g",
      "644\nc\nd\n750\n644\n"
    ]
  ])
})

describe("output of a function that exits", () => {
  asBash([
    [
      "main() { echo in; ls /no; exit 5; }; (main > log 2>&1; echo no); echo $?; cat log; main &> log",
      "5\nin\nls: cannot access '/no': No such file or directory\n",
      5
    ],
    [
      "set -e; f() { echo in $1; return 4; }; ! f 1 > a; f 2 >> a || echo $?; cat a; f 3 > b & wait $! || cat b; f 4 > c; echo no",
      "4\nin 1\nin 2\nin 3\n",
      4
    ],
    [
      'run() { "$@" >> a; }; f() { read -r l; echo "$l $X $*"; exit 3; }; run echo 1; (echo hi | X=2 run f q); (eval "echo e; exit 6" > b; echo no); cat a b',
      "1\nhi 2 q\ne\n"
    ]
  ])
})

asBash([
  [
    "exec 2>&1; (echo out; echo err >&2) 2>/dev/null; (exit 3) & wait $!; echo $?; x=$(ls /no); echo [$x]; exec 1>&2; ls /no | wc -l",
    "out\n3\nls: cannot access '/no': No such file or directory\n[]\nls: cannot access '/no': No such file or directory\n0\n"
  ]
])

it("output to a copy of stdout appears at once", async () => {
  const command =
    'exec 3>&1 4>&2; echo a >&3; log() { echo "[$*]" >&3; }; sleep 1; log b; x=$(log c; echo d); echo $x >&4'
  const { chunks } = await execute(runOf(command))
  expect(chunks.map(({ at, bytes }) => [at - START, Buffer.from(bytes).toString()])).toEqual([
    [0, "a\n"],
    [1000, "[b]\n[c]\nd\n"]
  ])
})
