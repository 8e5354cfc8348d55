/** The settings in docs/operating.md: the document names every one, as a flag and as a variable. */
import { expect, it } from "@effect/vitest"
import { settings } from "@sluice/server/Config"
import { readFileSync } from "node:fs"
import { join } from "node:path"

const page = readFileSync(join(import.meta.dirname, "../../../docs/operating.md"), "utf8")
const SECRETS = new Set(["bootstrap-key", "master-key", "metrics-token"])

it("docs/operating.md names every setting", () => {
  const missing = settings.filter((name) => {
    const variable = `SLUICE_${name.toUpperCase().replaceAll("-", "_")}`
    return !page.includes(`\`${variable}\``) || (!SECRETS.has(name) && !page.includes(`\`--${name}\``))
  })
  expect(missing).toEqual([])
})
