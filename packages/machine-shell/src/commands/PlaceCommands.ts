/**
 * Commands that put files in their place or compare them: `install`, `chown` and `chgrp` (everything is root's), `cmp`,
 * `diff`. Also `flock`, which does not wait, since jobs run one after the other.
 */
import type { Command, ResolvedCommandContext } from "just-bash"
import { runChild } from "../core/Children.ts"
import { ok } from "../core/ShellSession.ts"
import type { ShellSession } from "../core/ShellSession.ts"
import { diffCommand } from "./DiffCommand.ts"
import { bytesOf, Refusal, tool } from "./Options.ts"

const OWNING = { recursive: "R", verbose: "v", "no-dereference": "h" }
const INSTALL = { directory: "d", mode: "m", owner: "o", group: "g", "target-directory": "t", verbose: "v" }
const FLOCK = { nonblock: "n", nb: "n", exclusive: "x", shared: "s", unlock: "u", timeout: "w", command: "c" }

const ownerCommand = (name: "chown" | "chgrp"): Command =>
  tool(name, { flags: "RvhHLPf", long: OWNING }, async ({ operands }, context) => {
    const [owner, ...files] = operands
    if (owner === undefined || files.length === 0) throw new Refusal("missing operand")
    let errors = ""
    for (const file of files) {
      if (await context.fs.exists(context.fs.resolvePath(context.cwd, file))) continue
      errors += `${name}: cannot access '${file}': No such file or directory\n`
    }
    return { ...ok(), stderr: errors, exitCode: errors === "" ? 0 : 1 }
  })

export const placeCommands = (session: ShellSession): ReadonlyArray<Command> => [
  ownerCommand("chown"),
  ownerCommand("chgrp"),
  diffCommand,
  tool("install", { flags: "dDvcpsT", valued: "mogt", long: INSTALL }, async (options, context) => {
    const { cwd, fs } = context
    const place = (name: string) => fs.resolvePath(cwd, name)
    const mode = parseInt(options.value("m") ?? "755", 8)
    if (options.operands.length === 0) throw new Refusal("missing file operand")
    if (options.has("d")) {
      for (const name of options.operands) await fs.mkdir(place(name), { recursive: true })
      for (const name of options.operands) await fs.chmod(place(name), mode)
      return ok()
    }
    const files = [...options.operands]
    const target = options.value("t") ?? files.pop()!
    if (files.length === 0) throw new Refusal(`missing destination file operand after '${target}'`)
    if (options.has("D")) {
      const directory = options.has("t") ? target : target.replace(/\/?[^/]*$/, "")
      if (directory !== "") await fs.mkdir(place(directory), { recursive: true })
    }
    const isDirectory = (await fs.stat(place(target)).catch(() => undefined))?.isDirectory === true
    if (!isDirectory && (files.length > 1 || options.has("t")))
      throw new Refusal(`target '${target}' is not a directory`)
    for (const file of files) {
      const bytes = await bytesOf(context, file).catch((error: unknown) => {
        throw error instanceof Refusal
          ? new Refusal(`cannot stat ${error.message.replace(/^(.*): /, "'$1': ")}`)
          : error
      })
      const to = place(isDirectory ? `${target}/${file.slice(file.lastIndexOf("/") + 1)}` : target)
      await fs.writeFile(to, bytes, "binary")
      await fs.chmod(to, mode)
    }
    return ok()
  }),
  tool(
    "cmp",
    { flags: "slb", valued: "n", long: { silent: "s", quiet: "s", bytes: "n", verbose: "l" }, failsWith: 2 },
    async (options, context) => {
      const [first = "-", second = "-"] = options.operands
      const maxBytes = Number(options.value("n") ?? Infinity)
      const [one, other] = [
        await readForComparison(context, first, maxBytes),
        await readForComparison(context, second, maxBytes)
      ]
      const length = Math.min(one.length, other.length)
      let at = 0
      while (at < length && one[at] === other[at]) at++
      if (at === one.length && at === other.length) return ok()
      const lines = one.slice(0, at).split("\n").length
      const shorter = one.length < other.length ? first : second
      const difference = at < length ? `${first} ${second} differ: byte ${at + 1}, line ${lines}\n` : ""
      const where = one[at - 1] === "\n" ? `line ${lines - 1}` : `in line ${lines}`
      const end = at === 0 ? "which is empty" : `after byte ${at}, ${where}`
      const endOfFile = at < length ? "" : `cmp: EOF on ${shorter} ${end}\n`
      const isSilent = options.has("s")
      return { stdout: isSilent ? "" : difference, stderr: isSilent ? "" : endOfFile, exitCode: 1 }
    }
  ),
  tool("flock", { flags: "nxseuFo", valued: "wEc", long: FLOCK, runs: true }, async (options, context) => {
    const [file, ...rest] = options.operands
    if (file === undefined) throw new Refusal("requires file descriptor, file or directory")
    const words = rest[0] === "-c" || rest[0] === "--command" ? ["bash", "-c", rest[1] ?? ""] : rest
    const [name, ...args] = words
    // With a file descriptor the lock is this shell's from now on.
    if (name === undefined) return ok()
    const path = context.fs.resolvePath(context.cwd, file)
    if (!(await context.fs.exists(path))) await context.fs.writeFile(path, "")
    return runChild(session, context, name, args)
  })
]

const readForComparison = async (context: ResolvedCommandContext, name: string, maxBytes: number): Promise<string> => {
  try {
    return (await bytesOf(context, name)).slice(0, maxBytes)
  } catch (error) {
    throw error instanceof Refusal ? new Refusal(error.message, 2) : error
  }
}
