/** Orders test files: files that take minutes first, so that none of them runs alone at the end; then Vitest's order. */
import { BaseSequencer, type TestSpecification } from "vitest/node"

/** The deep ones take minutes, the quick ones more than ten seconds each. */
const LONG = [
  "/crash/Points.deep.",
  "/crash/Kill.deep.",
  "/Seeds.deep.",
  "/Planted.deep.",
  "/TenThousandJobs.deep.",
  "/docs/Readme.",
  "/cli/test/Journeys.",
  "/cli/test/Admin.",
  "/run/Seeds.",
  "/run/CliOptions.",
  "/journeys/Scenario.",
  "/cli/test/Network."
]

const rank = ({ moduleId }: TestSpecification) => {
  const at = LONG.findIndex((part) => moduleId.includes(part))
  return at === -1 ? LONG.length : at
}

export class LongestFirst extends BaseSequencer {
  override async sort(files: Array<TestSpecification>): Promise<Array<TestSpecification>> {
    const usual = await super.sort(files)
    return usual.toSorted((a, b) => rank(a) - rank(b))
  }
}
