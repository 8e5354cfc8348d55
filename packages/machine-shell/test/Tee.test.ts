/** Output behind `exec > >(...)` goes to the log and to the file. */
import { expect, it } from "@effect/vitest"
import { execute } from "../src/Execution.ts"
import { asBash } from "./support/Outcomes.ts"
import { runOf, START } from "@sluice/testing/fixtures/ShellRuns"

/** Returns the second and the text of each write, the exit code, and the files at the end. */
const outcomeOf = async (command: string) => {
  const { chunks, exit, files } = await execute(runOf(command, { keepFiles: true }))
  return {
    story: chunks.map(({ at, bytes }) => [(at - START) / 1_000, Buffer.from(bytes).toString()]),
    code: exit?.code,
    files: Object.fromEntries(
      files.flatMap((file) => (file._tag === "File" ? [[file.path, Buffer.from(file.bytes).toString()]] : []))
    )
  }
}

asBash([
  ["exec > >(tee log) 2>&1; echo hello; x=$(echo a | tr a b); echo $x; sleep 0.1", "hello\nb\n"],
  ["set -e; exec &> >(tee -a log); f() { echo in; }; f; bash -c 'echo sub'; false; echo no", "in\nsub\n", 1],
  ["exec > >(tee /dev/null) 2>&1; echo a; sleep 0.1", "a\n"],
  ["exec > >(tee o) 2> >(tee e >&2); echo a; echo b >&2; sleep 0.1", "a\nb\n"],
  ["set -e; exec > >(sed 's/^/> /') 2>&1; echo a; x=1; echo $x; (exit 4); echo no", "> a\n> 1\n", 4]
])

it("each line behind `exec > >(tee)` appears at its time, and goes to the file", async () => {
  const command = "exec > >(tee -a log) 2>&1; echo a; sleep 2; ls /no"
  const { chunks, files } = await execute(runOf(command, { keepFiles: true }))
  const written = "a\nls: cannot access '/no': No such file or directory\n"
  expect(chunks.map(({ at }) => at)).toEqual([START, START + 2000])
  expect(files.map((file) => file._tag === "File" && Buffer.from(file.bytes).toString())).toEqual([written])
})

asBash([
  ["echo a 2>&1 | tee f; echo b |& tee -a f; cat f", "a\nb\na\nb\n"],
  ["{ echo a; (exit 3); } 2>&1 | tee f; echo ${PIPESTATUS[@]} $?", "a\n3 0 0\n"],
  ["set -o pipefail; { echo a; exit 3; } 2>&1 | tee f || echo $?; echo b; cat f", "a\n3\nb\na\n"],
  ["set -e; { echo a; false; echo no; } 2>&1 | tee f; echo b; cat f", "a\nb\na\n"],
  ["set -eo pipefail; { echo a; false; echo no; } 2>&1 | tee f; echo no", "a\n", 1],
  [
    "f() { echo in; ls /no; }; f 2>&1 | tee o; x=$(f 2>&1 | tee p | wc -l); echo $x; wc -l < o; wc -l < p",
    "in\nls: cannot access '/no': No such file or directory\n2\n2\n2\n"
  ],
  ["x=1; { x=2; echo $x; } 2>&1 | tee f; echo $x; ! false 2>&1 | tee f; echo $?", "2\n1\n1\n"],
  ["{ echo a 2>&1 | tee in; echo b; } 2>&1 | tee out; cat in; echo --; cat out", "a\nb\na\n--\na\nb\n"],
  ["echo a 2>&1 | tee f g > /dev/null; cat f g; echo b 2>&1 | tee /dev/null", "a\na\nb\n"],
  ['while read x; do echo "<$x>"; done <<< a 2>&1 | tee f; cat < f 2>&1 | tee -a f; wc -l < f', "<a>\n<a>\n2\n"],
  ['d=x; mkdir $d; echo a 2>&1 | tee "$d/f" $d/g; cat x/*', "a\na\na\n"]
])

it("a line in a pipe to tee appears at its time, and a line behind the pipe does not go to the file", async () => {
  const command = "for i in 1 2; do echo $i; sleep 3; done 2>&1 | tee log; echo over; sleep 1; echo b 2>&1 | tee -a log"
  const { files, story } = await outcomeOf(command)
  expect(story).toEqual([
    [0, "1\n"],
    [3, "2\n"],
    [6, "over\n"],
    [7, "b\n"]
  ])
  expect(files).toEqual({ log: "1\n2\nb\n" })
})

it("a command that is interrupted, or runs beside the script, ends its copy", async () => {
  const interrupted = await outcomeOf("timeout 2 bash -c '{ echo a; sleep 9; echo no; } 2>&1 | tee log'; echo $?")
  expect(interrupted.story).toEqual([
    [0, "a\n"],
    [2, "124\n"]
  ])
  expect(interrupted.files).toEqual({ log: "a\n" })
  const beside = await outcomeOf("{ echo a; sleep 2; echo b; } 2>&1 | tee log & echo c; wait; echo d")
  expect(beside.story).toEqual([
    [0, "a\nc\n"],
    [2, "b\nd\n"]
  ])
  expect(beside.files).toEqual({ log: "a\nb\n" })
})
