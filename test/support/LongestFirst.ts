/** Orders test files: files that take minutes first, so that none of them runs alone at the end; then Vitest's order. */
import { BaseSequencer, type TestSpecification } from "vitest/node"

const LONG = ["/test/crash/", "/Seeds.test", "/Planted.test", "/TenThousandJobs.test"]

const isLong = ({ moduleId }: TestSpecification) => LONG.some((part) => moduleId.includes(part))

export class LongestFirst extends BaseSequencer {
  override async sort(files: Array<TestSpecification>): Promise<Array<TestSpecification>> {
    const usual = await super.sort(files)
    return [...usual.filter(isLong), ...usual.filter((file) => !isLong(file))]
  }
}
