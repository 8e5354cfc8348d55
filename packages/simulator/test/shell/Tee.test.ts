/** What follows `exec > >(...)` is in the log, and in the file. */
import { expect, it } from "@effect/vitest"
import { execute } from "../../src/shell/Execution.ts"
import { asBash } from "../support/Outcomes.ts"
import { runOf, START } from "../support/Runs.ts"

asBash([
  ["exec > >(tee log) 2>&1; echo hello; x=$(echo a | tr a b); echo $x; sleep 0.1", "hello\nb\n"],
  ["set -e; exec &> >(tee -a log); f() { echo in; }; f; bash -c 'echo sub'; false; echo no", "in\nsub\n", 1],
  ["exec > >(tee /dev/null) 2>&1; echo a; sleep 0.1", "a\n"],
  ["exec > >(tee o) 2> >(tee e >&2); echo a; echo b >&2; sleep 0.1", "a\nb\n"],
  ["set -e; exec > >(sed 's/^/> /') 2>&1; echo a; x=1; echo $x; (exit 4); echo no", "> a\n> 1\n", 4]
])

it("each line comes at its time, and goes to the file", async () => {
  const command = "exec > >(tee -a log) 2>&1; echo a; sleep 2; ls /no"
  const { chunks, files } = await execute(runOf(command, { keepFiles: true }))
  const written = "a\nls: cannot access '/no': No such file or directory\n"
  expect(chunks.map(({ at }) => at)).toEqual([START, START + 2000])
  expect(files.map((file) => file._tag === "File" && Buffer.from(file.bytes).toString())).toEqual([written])
})
