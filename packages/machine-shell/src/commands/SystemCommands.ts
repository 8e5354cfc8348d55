/**
 * Commands that describe this machine, set what a simulated machine lacks, or start a shell or a command: `uname` and
 * others, `trap`, `mktemp`, `bash`, `nohup`. Also the commands that only rewritten scripts use.
 */
import { decodeBytesToUtf8, defineCommand } from "just-bash"
import type { Command } from "just-bash"
import { runChild, quote } from "../core/Children.ts"
import { endsLikeWindows } from "../core/Explanations.ts"
import { BY_PATH } from "../core/Determinism.ts"
import { STATUS } from "../repairs/ExitStatus.ts"
import { MAX_DISK_BYTES } from "../core/MachineFs.ts"
import { MARK } from "../core/Syntax.ts"
import { BEGIN, END, TEE } from "../core/Tee.ts"
import { fail, ok } from "../core/ShellSession.ts"
import type { ShellSession } from "../core/ShellSession.ts"
import { signalOf } from "./JobCommands.ts"
import { runInterpreted } from "./ProgramCommands.ts"

const CPUS_PER_GPU = 16
const MEMORY_KIB_PER_GPU = 128 * 1024 * 1024

export const systemCommands = (session: ShellSession): ReadonlyArray<Command> => {
  const { hostname, gpu } = session.run
  const count = Math.max(1, gpu.count)
  const memoryKib = MEMORY_KIB_PER_GPU * count
  return [
    defineCommand("uname", async (args) => {
      const fields = { s: "Linux", n: hostname, r: "6.8.0-simulated", v: "#1 SMP", m: "x86_64", o: "GNU/Linux" }
      const asked = args.join("").replace(/[^a-z]/g, "") || "s"
      const shown = asked.includes("a") ? "snrvmo" : [..."snrvmo"].filter((key) => asked.includes(key)).join("")
      return ok(`${[...shown].map((key) => fields[key as keyof typeof fields]).join(" ")}\n`)
    }),
    defineCommand("arch", async () => ok("x86_64\n")),
    defineCommand("nproc", async () => ok(`${CPUS_PER_GPU * count}\n`)),
    defineCommand("hostname", async () => ok(`${hostname}\n`)),
    defineCommand("whoami", async () => ok("root\n")),
    defineCommand("id", async (args) =>
      ok(args.includes("-u") || args.includes("-g") ? "0\n" : "uid=0(root) gid=0(root) groups=0(root)\n")
    ),
    defineCommand("free", async (args) => {
      const [unit, name] = args.includes("-g")
        ? [1024 ** 2, "Gi"]
        : args.includes("-m")
          ? [1024, "Mi"]
          : args.includes("-h")
            ? [1024 ** 2, "Gi"]
            : [1, ""]
      const suffix = args.includes("-h") ? name : ""
      const value = (kib: number) => `${Math.floor(kib / unit)}${suffix}`.padStart(12)
      const used = Math.floor(memoryKib / 32)
      const head = ["total", "used", "free", "shared", "buff/cache", "available"]
        .map((one) => one.padStart(12))
        .join("")
      const row = [memoryKib, used, memoryKib - used, 0, 0, memoryKib - used].map(value).join("")
      return ok(`       ${head}\nMem:   ${row}\nSwap:  ${[0, 0, 0].map(value).join("")}\n`)
    }),
    defineCommand("df", async (args) => {
      const isHuman = args.some((arg) => /^-[a-z]*h/.test(arg))
      const [size, used] = isHuman ? [`${MAX_DISK_BYTES / 1024 ** 2}M`, "0"] : [`${MAX_DISK_BYTES / 1024}`, "0"]
      const head = isHuman
        ? "Filesystem      Size  Used Avail Use% Mounted on"
        : "Filesystem     1K-blocks  Used Available Use% Mounted on"
      return ok(`${head}\nmemory         ${size!.padStart(9)} ${used!.padStart(5)} ${size!.padStart(9)}   0% /\n`)
    }),
    defineCommand("ps", async () => ok("    PID TTY          TIME CMD\n      1 ?        00:00:00 bash\n")),
    defineCommand("ulimit", async (args) =>
      ok(args.some((arg) => /^\d+$/.test(arg)) || args.includes("-c") ? "" : "unlimited\n")
    ),
    defineCommand("umask", async (args) => ok(args.length === 0 ? "0022\n" : "")),
    defineCommand("sync", async () => ok()),
    defineCommand("disown", async () => ok()),
    defineCommand("trap", async (all) => {
      const isInner = all[0] === MARK || session.console.currentJob !== 0
      const given = all[0] === MARK ? all.slice(1) : all
      const args = given[0] === "--" ? given.slice(1) : given
      if (args.length === 0 || args[0] === "-l" || args[0] === "-p") return ok()
      const [handler = "", ...signals] = args
      for (const signal of signals) {
        const name = signal.toUpperCase().replace(/^SIG/, "")
        const number = signalOf(signal)
        if (isInner) {
          if (number !== 0 || handler === "" || handler === "-") continue
          return {
            ...ok(),
            stderr: "trap: EXIT: of a subshell or job its handler does not run on a simulated machine\n"
          }
        }
        if (number === 0) session.exitHandler = handler === "-" ? "" : handler
        else if (number !== undefined && handler !== "-") session.signalHandlers.set(number, handler)
        else if (number !== undefined) session.signalHandlers.delete(number)
        else if (handler !== "" && handler !== "-" && NEVER_RUN.has(name))
          return { ...ok(), stderr: `trap: ${name}: its handler does not run on a simulated machine\n` }
      }
      return ok()
    }),
    defineCommand(`${MARK}leave`, async ([code = "0"], context) => {
      if (session.console.currentJob === 0) session.exitVariables = Object.fromEntries(context.env)
      return { ...ok(), exitCode: Number(code) }
    }),
    defineCommand(STATUS, async ([code = "0"]) => ({ ...ok(), exitCode: Number(code) })),
    defineCommand(TEE, async (all, { cwd, fs }) => {
      const { console } = session
      const [mode] = all
      if (mode === END) {
        console.copies = console.copies.outer ?? console.copies
        return ok()
      }
      const args = mode === BEGIN ? all.slice(1) : all
      const paths = args.filter((arg) => !arg.startsWith("-")).map((arg) => fs.resolvePath(cwd, arg))
      const appends = args.includes("-a") || args.includes("--append")
      for (const path of paths) await (appends ? fs.appendFile(path, "") : fs.writeFile(path, ""))
      // A device is the console again, or keeps nothing, so it gets no copy.
      const copies = paths.filter((path) => !path.startsWith("/dev/"))
      console.copies =
        mode === BEGIN
          ? { paths: [...console.copies.paths, ...copies], outer: console.copies }
          : { paths: copies, outer: undefined }
      return ok()
    }),
    defineCommand("mktemp", async (args, context) => {
      const directory = args.some((arg) => /^-[a-z]*d/.test(arg))
      const parentAt = args.findIndex((arg) => arg === "-p")
      const parent = parentAt >= 0 ? args[parentAt + 1] : undefined
      const named = args.find((arg, index) => !arg.startsWith("-") && (parentAt < 0 || index !== parentAt + 1))
      const template = named ?? "tmp.XXXXXXXXXX"
      if (!/X{3,}/.test(template)) return fail(`mktemp: too few X's in template '${template}'`)
      const filled = template.replace(/X{3,}(?=[^X]*$)/, (xs) =>
        [...xs].map(() => ALPHABET[session.random() % 62]).join("")
      )
      const inside = parent ?? (named === undefined || args.includes("-t") ? "/tmp" : undefined)
      const shown = inside === undefined ? filled : `${inside}/${filled}`
      const path = context.fs.resolvePath(context.cwd, shown)
      if (directory) await context.fs.mkdir(path)
      else await context.fs.writeFile(path, "")
      await context.fs.chmod(path, directory ? 0o700 : 0o600)
      return ok(`${shown}\n`)
    }),
    ...["bash", "sh"].map((name) =>
      defineCommand(name, async (all, context) => {
        const given = all[0] === MARK ? all.slice(1) : all
        const byPath = given[0] === BY_PATH
        const args = byPath ? given.slice(1) : given
        const path = context.fs.resolvePath(context.cwd, args[0] ?? "")
        if (byPath && /^\/(usr\/)?bin\//.test(path)) return runChild(session, context, path, args.slice(1))
        const stat = byPath ? await context.fs.stat(path).catch(() => undefined) : undefined
        if (byPath && stat === undefined) return fail(`bash: ${args[0]}: No such file or directory`, 127)
        if (stat?.isDirectory === true) return fail(`bash: ${args[0]}: Is a directory`, 126)
        if (stat !== undefined && (stat.mode & 0o111) === 0) return fail(`bash: ${args[0]}: Permission denied`, 126)
        const other = byPath ? await runInterpreted(path, args, all[0] === MARK, session, context) : undefined
        if (other !== undefined) return other
        const script = await context.fs.readFile(path).catch(() => "")
        session.hasWindowsLines ||= endsLikeWindows(script)
        session.nextScript = all[0] === MARK ? "streamed" : "captured"
        const shown = byPath ? args : shellArguments(args, () => decodeBytesToUtf8(context.stdin))
        return context.origCommand?.(shown) ?? fail(`${name}: not available`, 127)
      })
    ),
    ...["nohup", "nice", "stdbuf"].map((name) =>
      defineCommand(name, async (all, context) => {
        session.nextScript = all[0] === MARK ? "streamed" : "captured"
        const rest = all[0] === MARK ? all.slice(1) : [...all]
        while (rest[0]?.startsWith("-") === true) if (rest.shift() === "-n") rest.shift()
        const [command, ...args] = rest
        if (command === undefined) return fail(`${name}: missing operand`, 125)
        return runChild(session, context, command, args)
      })
    )
  ]
}

/** Events that the interpreter does not report. */
const NEVER_RUN: ReadonlySet<string> = new Set(["ERR", "DEBUG", "RETURN"])
const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

/**
 * Rewrites `bash -euxo pipefail -lc 'x'` to `bash -c 'set -euxo pipefail; x'`: the original knows only `-c` and a file.
 */
const shellArguments = (args: ReadonlyArray<string>, stdin: () => string): Array<string> => {
  let flags = ""
  let options = ""
  let at = 0
  let inline = false
  let piped = false
  for (; at < args.length && /^[-+][a-zA-Z-]/.test(args[at]!); at++) {
    const arg = args[at]!
    if (arg === "--") {
      at++
      break
    }
    if (arg === "--help") return [...args]
    if (arg.startsWith("--")) continue
    inline ||= arg.includes("c")
    piped ||= /^-\w*s/.test(arg)
    flags += arg.replace(/[^euxvfnC]/g, "")
    if (arg.endsWith("o")) options += ` -o ${quote(args[++at] ?? "")}`
  }
  const rest = args.slice(at)
  const settings = flags === "" && options === "" ? "" : `set${flags === "" ? "" : ` -${flags}`}${options}\n`
  if (inline) return rest.length === 0 ? ["-c"] : ["-c", settings + rest[0]!, ...rest.slice(1)]
  if (piped) return ["-c", settings + stdin(), "bash", ...rest]
  if (settings === "" || rest.length === 0) return rest
  return ["-c", `${settings}. ${quote(rest[0]!)} "$@"`, ...rest]
}
