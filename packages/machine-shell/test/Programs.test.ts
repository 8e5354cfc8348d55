/**
 * Programs of a world: bash scripts that stand in for programs that a simulated machine lacks, however a command calls
 * them.
 */
import { describe, expect, it } from "@effect/vitest"
import { execute } from "../src/Execution.ts"
import { issuesOf, NAME } from "../src/Programs.ts"
import { runOf, START } from "@sluice/testing/fixtures/ShellRuns"

const programs = {
  python: `echo "$# $*"; sleep 10; echo "$RUN" > model.bin; echo bye >&2; exit 3`,
  git: `mkdir -p "$(basename "$2" .git)"; echo "cloned $2"`,
  random: "echo $RANDOM",
  "nvidia-smi": "echo 'No devices were found'; exit 6"
}

/** Returns the second and the text of each write, then the second and the code of the exit. */
const storyOf = async (command: string, more: Record<string, string> = {}) => {
  const { chunks, exit } = await execute(runOf(command, { programs: { ...programs, ...more }, env: { RUN: "r1" } }))
  const story = chunks.map(({ at, bytes }) => [(at - START) / 1_000, Buffer.from(bytes).toString()])
  return [...story, [(exit!.at - START) / 1_000, exit!.code]]
}

describe("a program of the world", () => {
  it("runs by its name, with arguments, variables and a clock, and writes as it runs", async () => {
    expect(await storyOf("python train.py --epochs '3 4'; code=$?; cat model.bin; exit $code")).toEqual([
      [0, "3 train.py --epochs 3 4\n"],
      [10, "bye\nr1\n"],
      [10, 3]
    ])
  })

  it("runs through `timeout`, `nohup`, `env`, `xargs` and `exec`", async () => {
    expect(await storyOf("timeout 4 python a || echo $?")).toEqual([
      [0, "1 a\n"],
      [4, "124\n"],
      [4, 0]
    ])
    expect(await storyOf("nohup python a > log & wait $!; echo $?; cat log")).toEqual([
      [10, "bye\n3\n1 a\n"],
      [10, 0]
    ])
    expect(await storyOf('p=python; x=$(env $p a 2>&1); echo "[$x] $?"')).toEqual([
      [10, "[1 a\nbye] 3\n"],
      [10, 0]
    ])
    expect(
      await storyOf("seq 2 | xargs -n1 git clone | sort -r; git clone https://host/org/repo.git && cd repo")
    ).toEqual([
      [0, "cloned 2\ncloned 1\ncloned https://host/org/repo.git\n"],
      [0, 0]
    ])
    expect(await storyOf("exec python last; echo never")).toEqual([
      [0, "1 last\n"],
      [10, "bye\n"],
      [10, 3]
    ])
  })

  it("gets the variables of its assignment prefix, and those that are exported", async () => {
    const command =
      "SEED=1 python; SEED='2 3' timeout 9 python; python; export SEED=4; python; SEED=5 python; env -u SEED python"
    const story = await storyOf(command, { python: 'echo "[$SEED] $RUN"' })
    expect(story[0]).toEqual([0, "[1] r1\n[2 3] r1\n[] r1\n[4] r1\n[5] r1\n[] r1\n"])
  })

  it("is found by `command -v`, keeps its text and replaces a command of the machine", async () => {
    expect(await storyOf("command -v git && cat /usr/local/bin/random && nvidia-smi")).toEqual([
      [0, "/usr/bin/git\necho $RANDOMNo devices were found\n"],
      [0, 6]
    ])
  })

  it("draws the run's random numbers", async () => {
    const once = await storyOf("random; p=random; $p; env random")
    expect(once).toEqual(await storyOf("random; p=random; $p; env random"))
  })

  it("runs a file that names it as its interpreter", async () => {
    const script = "printf '#!/usr/bin/env python\\nprint(1)\\n' > a.py; chmod +x a.py; ./a.py x"
    expect(await storyOf(script, { python: 'cat "$1"; echo "$2"' })).toEqual([
      [0, "#!/usr/bin/env python\nprint(1)\nx\n"],
      [0, 0]
    ])
  })

  it("is hidden by a function, and by a file of a directory that comes first in PATH", async () => {
    expect(await storyOf("python() { echo mine; }; python a")).toEqual([
      [0, "mine\n"],
      [0, 0]
    ])
    const own = "mkdir bin; printf 'echo own' > bin/python; chmod +x bin/python; PATH=/workspace/bin:$PATH; python"
    expect(await storyOf(own)).toEqual([
      [0, "own\n"],
      [0, 0]
    ])
  })

  it("that calls itself without end ends by itself", async () => {
    const story = await storyOf("python", { python: "python" })
    expect(story.at(-1)).toEqual([0, expect.any(Number)])
  })
})

describe("an interpreter in the first line of a file", () => {
  it("that the machine lacks is reported as by bash and env", async () => {
    const of = async (first: string) => {
      const { chunks, exit } = await execute(runOf(`printf '${first}\\nprint(1)\\n' > a.py; chmod +x a.py; ./a.py`))
      return [Buffer.concat(chunks.map(({ bytes }) => bytes)).toString(), exit!.code]
    }
    expect(await of("#!/usr/bin/env python")).toEqual([
      expect.stringMatching(/^\/usr\/bin\/env: 'python': No such file or directory\nsimulated machine: /),
      127
    ])
    expect(await of("#!/opt/conda/bin/python -u")).toEqual([
      expect.stringMatching(
        /^bash: \.\/a\.py: \/opt\/conda\/bin\/python: bad interpreter: No such file or directory\n/
      ),
      127
    ])
  })

  it("that the machine has runs the file", async () => {
    const { chunks } = await execute(
      runOf("printf '#!/usr/bin/awk -f\\nBEGIN { print 6 * 7 }\\n' > a; chmod +x a; ./a")
    )
    expect(Buffer.concat(chunks.map(({ bytes }) => bytes)).toString()).toBe("42\n")
  })
})

describe("the names and texts of programs", () => {
  it("are accepted, or every fault of them is reported", () => {
    expect(["python", "python3.12", "nvidia-smi", "g++", "7z"].every((name) => NAME.test(name))).toBe(true)
    expect(["", "a/b", "-x", "a b", "x".repeat(65)].some((name) => NAME.test(name))).toBe(false)
    expect(issuesOf(programs)).toEqual([])
    expect(issuesOf({ cd: "true", a: "x".repeat(65_537), b: "if", bash: "" })).toEqual([
      "programs must have 65536 characters at most together, not 65543",
      "programs.cd has a name that the shell itself needs; give it another",
      expect.stringMatching(/^programs\.b must be a bash script: .*THEN/),
      "programs.bash has a name that the shell itself needs; give it another"
    ])
    expect(issuesOf(Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`p${i}`, "true"])))).toEqual([
      "programs must be 50 at most, not 51"
    ])
  })
})
