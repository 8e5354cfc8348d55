/**
 * The body of POST /storage: its shape and its limits. A refusal lists all mistakes at once (decisions: Storage). The
 * function is pure: the regions are a parameter.
 */
import { Result, Schema } from "effect"
import { type Issue, listIssues } from "../requests/BodyIssues.ts"
import { Name } from "../requests/Name.ts"
import type { Region } from "./Region.ts"
import { MAX_VOLUME_GB } from "./Volume.ts"

const sizeRule = { message: `must be an integer from 1 to ${MAX_VOLUME_GB}` }
export const SizeGb = Schema.Int.annotate(sizeRule).check(
  Schema.isBetween({ minimum: 1, maximum: MAX_VOLUME_GB }, sizeRule)
)

export const VolumeRequestBody = Schema.Struct({
  name: Name,
  region: Schema.String.annotate({ message: "must be a string: an id of GET /storage/regions" }),
  size_gb: SizeGb
})

const decodeBody = Schema.decodeUnknownResult(VolumeRequestBody, { errors: "all", onExcessProperty: "error" })

/** Returns the requested volume, or all mistakes of the body. */
export const decode = (
  input: unknown,
  regions: ReadonlyArray<Region>
): Result.Result<typeof VolumeRequestBody.Type, ReadonlyArray<Issue>> => {
  const decoded = Result.mapError(decodeBody(input), ({ issue }) => listIssues(issue, "field of this request"))
  const issues = [...(Result.isFailure(decoded) ? decoded.failure : []), ...regionIssues(input, regions)]
  return issues.length === 0 ? decoded : Result.fail(issues)
}

const regionIssues = (input: unknown, regions: ReadonlyArray<Region>): ReadonlyArray<Issue> => {
  const region = typeof input === "object" && input !== null && "region" in input ? input.region : undefined
  if (typeof region !== "string" || regions.some(({ id }) => id === region)) return []
  return [{ path: "region", message: `must be one of ${regions.map(({ id }) => id).join(", ")}` }]
}
