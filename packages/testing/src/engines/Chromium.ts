/** A headless Chromium of the machine for suites that need eyes and ears; where there is none they are skipped by name. */
import { Effect } from "effect"
import { existsSync } from "node:fs"
import { chromium, type Page } from "playwright-core"
import { describeWith } from "./Engines.ts"

const KNOWN = ["/usr/bin/chromium", "/usr/bin/chromium-headless-shell", "/usr/bin/chromium-browser"]

const executable = KNOWN.find((path) => existsSync(path))

/** A suite that needs a browser. */
export const describeInChromium = (name: string, suite: () => void): void => {
  const absent = executable === undefined ? "no Chromium is installed" : undefined
  describeWith("chromium", absent, `${name} in Chromium`, suite)
}

/** An empty page, closed with the scope. */
export const browser = Effect.map(
  Effect.acquireRelease(
    Effect.promise(async () => {
      const args = ["--no-sandbox", "--autoplay-policy=no-user-gesture-required"]
      const opened = await chromium.launch({ executablePath: executable ?? "", args })
      return { opened, page: await opened.newPage() }
    }),
    ({ opened }) => Effect.promise(() => opened.close())
  ),
  ({ page }): Page => page
)
