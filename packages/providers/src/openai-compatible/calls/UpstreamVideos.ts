/**
 * Films of upstreams as the port wants them. An order goes to the upstream that its id draws, so that asking again asks the
 * same one, and to another one only where that has surely begun nothing. A film's reference says which upstream has it.
 */
import type { VideoModel, VideoProvider } from "@sluice/domain/models/MediaProvider"
import { UpstreamFailed } from "@sluice/domain/models/UpstreamFailed"
import { Effect } from "effect"
import { createHash } from "node:crypto"
import { hasDoneNothing, worthAnother } from "../upstream/CallFailed.ts"
import type { Call, Plan, Upstreams } from "../upstream/Upstreams.ts"
import { thereCall, videoBytes } from "./VideoBytes.ts"
import { lookCall, orderCall, removeCall } from "./VideoCall.ts"

export const upstreamVideos = (
  models: ReadonlyArray<VideoModel>,
  of: (model: VideoModel) => Upstreams
): VideoProvider => ({
  models,
  submit: (model, task) => {
    const plan: Plan = { drawn: Effect.succeed(drawnFrom(task.id)), another: hasDoneNothing }
    const call: Call<string, never> = (lease) =>
      Effect.map(orderCall(task)(lease), (id) => `${lease.upstream.mark}:${id}`)
    return of(model).run(call, plan)
  },
  look: (model, reference) =>
    at(of(model), reference, (upstreams, plan, id) =>
      Effect.filterOrElse(
        upstreams.run(lookCall(id), plan),
        (progress) => progress._tag !== "Completed",
        () => upstreams.run(thereCall(id), plan)
      )
    ),
  read: (model, reference, range) =>
    at(of(model), reference, (upstreams, plan, id) => videoBytes(upstreams, plan, id, range)),
  remove: (model, reference) => at(of(model), reference, (upstreams, plan, id) => upstreams.run(removeCall(id), plan))
})

/** From 0 up to but not 1, the same for the same id. */
const drawnFrom = (id: string): number => createHash("sha256").update(id).digest().readUInt32BE(0) / 2 ** 32

const at = <A>(
  upstreams: Upstreams,
  reference: string,
  ask: (upstreams: Upstreams, plan: Plan, id: string) => Effect.Effect<A, UpstreamFailed>
): Effect.Effect<A, UpstreamFailed> => {
  const [mark = "", ...id] = reference.split(":")
  const only = upstreams.all.findIndex((upstream) => upstream.mark === mark)
  // The upstream is not in the catalog any more, or calls the model otherwise.
  if (only < 0) return Effect.fail(new UpstreamFailed({ reason: "broken" }))
  return ask(upstreams, { drawn: Effect.succeed(0), another: worthAnother, only }, id.join(":"))
}
