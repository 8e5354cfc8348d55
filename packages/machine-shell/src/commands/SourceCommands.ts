/** Commands that give `eval` and `.` the text to run, rewritten like any other script. */
import { defineCommand } from "just-bash"
import type { Command } from "just-bash"
import { endsLikeWindows } from "../core/Explanations.ts"
import { rewriteText } from "../core/Rewriting.ts"
import type { ShellSession } from "../core/ShellSession.ts"
import { FILE, TEXT } from "../repairs/Sourcing.ts"

/** The shell reads the file directly after it is written, so one path is enough. */
const PLACE = "/proc/self/fd/.source"

export const sourceCommands = (session: ShellSession): ReadonlyArray<Command> => {
  const modeOf = (text: string | undefined) => (text === "streamed" ? "streamed" : "captured")
  const resultOf = (stdout: string, status: string) => ({ stdout, stderr: "", exitCode: Number(status) })
  return [
    defineCommand(TEXT, async ([mode, status = "0", ...all]) => {
      const words = all[0] === "--" ? all.slice(1) : all
      const source = words.join(" ")
      // `eval` itself refuses an option.
      return resultOf(/^-./.test(words[0] ?? "") ? source : rewriteText(source, modeOf(mode), session), status)
    }),
    defineCommand(FILE, async ([mode, status = "0", name = ""], { cwd, env, fs }) => {
      const directories = name.includes("/") ? [] : (env.get("PATH") ?? "").split(":").filter((one) => one !== "")
      for (const path of [...directories.map((one) => `${one}/${name}`), name]) {
        const place = fs.resolvePath(cwd, path)
        if ((await fs.stat(place).catch(() => undefined))?.isFile !== true) continue
        const source = await fs.readFile(place)
        session.hasWindowsLines ||= endsLikeWindows(source)
        const text = rewriteText(source, modeOf(mode), session, path)
        if (text === source) break
        await fs.writeFile(PLACE, text)
        return resultOf(PLACE, status)
      }
      return resultOf(name, status)
    })
  ]
}
