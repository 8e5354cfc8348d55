/** Programs of a world: bash scripts that stand in for what a simulated machine lacks, however a command calls them. */
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

/** At which second what was written, and then the second and the code of the exit. */
const told = async (command: string, more: Record<string, string> = {}) => {
  const { chunks, exit } = await execute(runOf(command, { programs: { ...programs, ...more }, env: { RUN: "r1" } }))
  const story = chunks.map(({ at, bytes }) => [(at - START) / 1_000, Buffer.from(bytes).toString()])
  return [...story, [(exit!.at - START) / 1_000, exit!.code]]
}

describe("A program of the world", () => {
  it("runs by its name, with arguments, variables and a clock, and writes as it runs", async () => {
    expect(await told("python train.py --epochs '3 4'; code=$?; cat model.bin; exit $code")).toEqual([
      [0, "3 train.py --epochs 3 4\n"],
      [10, "bye\nr1\n"],
      [10, 3]
    ])
  })

  it("runs whoever calls it", async () => {
    expect(await told("timeout 4 python a || echo $?")).toEqual([
      [0, "1 a\n"],
      [4, "124\n"],
      [4, 0]
    ])
    expect(await told("nohup python a > log & wait $!; echo $?; cat log")).toEqual([
      [10, "bye\n3\n1 a\n"],
      [10, 0]
    ])
    expect(await told('p=python; x=$(env $p a 2>&1); echo "[$x] $?"')).toEqual([
      [10, "[1 a\nbye] 3\n"],
      [10, 0]
    ])
    expect(await told("seq 2 | xargs -n1 git clone | sort -r; git clone https://host/org/repo.git && cd repo")).toEqual(
      [
        [0, "cloned 2\ncloned 1\ncloned https://host/org/repo.git\n"],
        [0, 0]
      ]
    )
    expect(await told("exec python last; echo never")).toEqual([
      [0, "1 last\n"],
      [10, "bye\n"],
      [10, 3]
    ])
  })

  it("gets the variables that stand before its name, and no others", async () => {
    const asked =
      "SEED=1 python; SEED='2 3' timeout 9 python; python; export SEED=4; python; SEED=5 python; env -u SEED python"
    const said = await told(asked, { python: 'echo "[$SEED] $RUN"' })
    expect(said[0]).toEqual([0, "[1] r1\n[2 3] r1\n[] r1\n[4] r1\n[5] r1\n[] r1\n"])
  })

  it("is found by who looks for it, and is read as it was given", async () => {
    expect(await told("command -v git && cat /usr/local/bin/random && nvidia-smi")).toEqual([
      [0, "/usr/bin/git\necho $RANDOMNo devices were found\n"],
      [0, 6]
    ])
  })

  it("takes its chance from the run", async () => {
    const once = await told("random; p=random; $p; env random")
    expect(once).toEqual(await told("random; p=random; $p; env random"))
  })

  it("gets the text of a file that names it as its interpreter", async () => {
    const script = "printf '#!/usr/bin/env python\\nprint(1)\\n' > a.py; chmod +x a.py; ./a.py x"
    expect(await told(script, { python: 'cat "$1"; echo "$2"' })).toEqual([
      [0, "#!/usr/bin/env python\nprint(1)\nx\n"],
      [0, 0]
    ])
  })

  it("gives way to a function, and to a file that the path names first", async () => {
    expect(await told("python() { echo mine; }; python a")).toEqual([
      [0, "mine\n"],
      [0, 0]
    ])
    const own = "mkdir bin; printf 'echo own' > bin/python; chmod +x bin/python; PATH=/workspace/bin:$PATH; python"
    expect(await told(own)).toEqual([
      [0, "own\n"],
      [0, 0]
    ])
  })

  it("ends where a run ends that calls itself for ever", async () => {
    const story = await told("python", { python: "python" })
    expect(story.at(-1)).toEqual([0, expect.any(Number)])
  })
})

describe("An interpreter that the machine lacks", () => {
  it("is named as bash and env name it", async () => {
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

  it("is another one that it has", async () => {
    const { chunks } = await execute(
      runOf("printf '#!/usr/bin/awk -f\\nBEGIN { print 6 * 7 }\\n' > a; chmod +x a; ./a")
    )
    expect(Buffer.concat(chunks.map(({ bytes }) => bytes)).toString()).toBe("42\n")
  })
})

describe("The names and texts of programs", () => {
  it("are what a machine can have, or all that is wrong is told", () => {
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
