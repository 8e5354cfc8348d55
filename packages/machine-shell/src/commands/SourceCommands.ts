/** What gives `eval` and `.` the text that they run, rewritten like any other script. */
import { defineCommand } from "just-bash"
import type { Command } from "just-bash"
import { endsLikeWindows } from "../core/Explanations.ts"
import { rewritten } from "../core/Rewriting.ts"
import type { ShellSession } from "../core/ShellSession.ts"
import { FILE, TEXT } from "../repairs/Sourcing.ts"

/** It is read as soon as it is there, so one is enough. */
const PLACE = "/proc/self/fd/.source"

export const sourceCommands = (session: ShellSession): ReadonlyArray<Command> => {
  const modeOf = (text: string | undefined) => (text === "streamed" ? "streamed" : "captured")
  const told = (stdout: string, status: string) => ({ stdout, stderr: "", exitCode: Number(status) })
  return [
    defineCommand(TEXT, async ([mode, status = "0", ...all]) => {
      const words = all[0] === "--" ? all.slice(1) : all
      const source = words.join(" ")
      // An option of `eval` is its own to refuse.
      return told(/^-./.test(words[0] ?? "") ? source : rewritten(source, modeOf(mode), session), status)
    }),
    defineCommand(FILE, async ([mode, status = "0", name = ""], { cwd, env, fs }) => {
      const directories = name.includes("/") ? [] : (env.get("PATH") ?? "").split(":").filter((one) => one !== "")
      for (const path of [...directories.map((one) => `${one}/${name}`), name]) {
        const place = fs.resolvePath(cwd, path)
        if ((await fs.stat(place).catch(() => undefined))?.isFile !== true) continue
        const source = await fs.readFile(place)
        session.hasWindowsLines ||= endsLikeWindows(source)
        const text = rewritten(source, modeOf(mode), session, path)
        if (text === source) break
        await fs.writeFile(PLACE, text)
        return told(PLACE, status)
      }
      return told(name, status)
    })
  ]
}
