/** A headless Chromium of the machine for suites that need eyes and ears; where there is none they are skipped by name. */
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync } from "node:fs"
import { chromium, type Page } from "playwright-core"

const KNOWN = ["/usr/bin/chromium", "/usr/bin/chromium-headless-shell", "/usr/bin/chromium-browser"]

const executable = KNOWN.find((path) => existsSync(path))

/** A suite that needs a browser. */
export const describeInChromium = (name: string, suite: () => void): void => {
  if (executable !== undefined) describe(`${name} in Chromium`, suite)
  else if (process.env["CI"] === "true") {
    describe(`${name} in Chromium`, () => it("has a Chromium", () => expect.unreachable("apt-get install chromium")))
  } else describe.skip(`${name} in Chromium (skipped: there is none on this machine)`, suite)
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
