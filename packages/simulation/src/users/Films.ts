/**
 * A video of a user: ordered once, looked at until it has ended, downloaded, deleted; or never looked at again. What must not
 * come back to a caller (a video that is gone, other bytes, a deletion in the middle) ends the item as unanswered.
 */
import { decodeVideo } from "@sluice/domain/videos/VideoRequest"
import { Videos } from "@sluice/domain/videos/Videos"
import { Effect, Result, Stream } from "effect"
import { createHash } from "node:crypto"
import type { Film } from "../plan/Plan.ts"
import { isLost } from "./UserInputs.ts"
import { reasonOf } from "./Requests.ts"
import type { UserContext } from "./UserContext.ts"

const MAX_LOOKS = 400
const MAX_TRIES = 20
const TRY_AGAIN_MS = 5_000
/** The end of a film, asked for by itself. */
const SUFFIX = 16

export const film = (users: UserContext, item: Film): Effect.Effect<void, unknown> =>
  Effect.gen(function* () {
    const { history, tally } = users
    const ordered = yield* Effect.match(users.ask(item.id, order(users, item)), {
      onSuccess: ({ id }) => {
        tally.videos.set(id, { item: item.id, deleted: false })
        history.record(`${item.id} ordered`)
        return id
      },
      onFailure: (failure) => {
        tally.count("videos", "failed", reasonOf(failure))
        history.record(`${item.id} not ordered: ${reasonOf(failure)}`)
        return undefined
      }
    })
    if (ordered === undefined) return
    if (item.lookEveryMs === null) return tally.count("videos", "abandoned")
    if (item.deletes === "early") yield* remove(users, item, ordered, "early")
    const status = yield* awaited(users, item, ordered, item.lookEveryMs)
    history.record(`${item.id} ${status}`)
    if (status === "completed") {
      tally.count("videos", "answered")
      yield* downloads(users, item, ordered)
    } else if (status === "deleted") tally.count("videos", "abandoned")
    else tally.count("videos", "failed", status)
    if (item.deletes === "ended") yield* remove(users, item, ordered, "ended")
  })

const order = (users: UserContext, item: Film) =>
  Effect.gen(function* () {
    const principal = yield* users.principal(item.workspace)
    const body = { model: "sluice-film", prompt: `${item.id} goes by`, seconds: item.seconds }
    const asked = Result.getOrThrow(decodeVideo(body, { idempotencyKey: item.id }))
    return (yield* (yield* Videos).submit(principal, asked)).video
  })

/** Looks until it has ended: its last state, or why there is none. */
const awaited = (users: UserContext, item: Film, id: string, everyMs: number) =>
  Effect.gen(function* () {
    for (let n = 0; n < MAX_LOOKS; n++) {
      // Who has waited for long looks less often.
      yield* Effect.sleep(everyMs * (1 + n / 4))
      const seen = yield* users.persist(`${item.id}/look/${n}`, show(users, item, id))
      if (seen === undefined) return "unanswered"
      if (seen === "VideoNotFound") {
        if (users.tally.videos.get(id)?.deleted === true) return "deleted"
        return yield* Effect.die(`video ${id} is not there any more`)
      }
      if (seen.status === "completed" || seen.status === "failed") return seen.failure ?? seen.status
    }
    return "never ended"
  })

const show = (users: UserContext, item: Film, id: string) =>
  Effect.gen(function* () {
    const principal = yield* users.principal(item.workspace)
    const videos = yield* Videos
    return yield* Effect.catchTag(videos.show(principal, id), "VideoNotFound", ({ _tag }) => Effect.succeed(_tag))
  })

const downloads = (users: UserContext, item: Film, id: string) =>
  Effect.gen(function* () {
    let whole: Buffer | undefined
    for (let n = 0; n < item.downloads; n++) {
      const bytes = yield* downloaded(users, item, id, n)
      if (bytes === undefined) continue
      if (whole !== undefined && !(n % 2 === 0 ? whole : whole.subarray(-SUFFIX)).equals(bytes)) {
        return yield* Effect.die(`download ${n} of video ${id} has other bytes`)
      }
      if (n === 0) whole = bytes
      users.history.record(`${item.id} download ${n}: ${createHash("sha256").update(bytes).digest("hex").slice(0, 8)}`)
    }
  })

/** Every second one asks for the end of the film alone. A world that fails is asked again. */
const downloaded = (users: UserContext, item: Film, id: string, n: number) =>
  Effect.gen(function* () {
    const range = n % 2 === 0 ? undefined : { suffix: SUFFIX }
    for (let attempt = 0; attempt < MAX_TRIES; attempt++) {
      const read = Effect.gen(function* () {
        const principal = yield* users.principal(item.workspace)
        const { bytes, end, start } = yield* (yield* Videos).read(principal, id, range)
        const pieces = yield* Stream.runCollect(bytes)
        const all = Buffer.concat([...pieces])
        return all.length === end - start ? all : yield* Effect.die(`video ${id} was cut`)
      })
      const got = yield* Effect.result(Effect.timeoutOption(users.ask(`${item.id}/read/${n}/${attempt}`, read), 60_000))
      if (Result.isSuccess(got)) {
        if (got.success._tag === "Some") return got.success.value
      } else if (got.failure !== "Fault" && !isLost(got.failure) && got.failure._tag !== "UpstreamFailed") {
        return yield* got.failure
      }
      yield* Effect.sleep(TRY_AGAIN_MS)
    }
    return undefined
  })

const remove = (users: UserContext, item: Film, id: string, when: "early" | "ended") =>
  Effect.gen(function* () {
    const video = users.tally.videos.get(id)!
    video.deleted = true
    const removal = Effect.gen(function* () {
      const principal = yield* users.principal(item.workspace)
      const videos = yield* Videos
      // Not found: an earlier try was heard and its answer was lost.
      return yield* Effect.as(videos.remove(principal, id), "deleted").pipe(
        Effect.catchTags({
          VideoNotFound: () => Effect.succeed("gone"),
          VideoNotEnded: () => Effect.succeed("refused")
        })
      )
    })
    const answer = yield* users.persist(`${item.id}/delete/${when}`, removal)
    users.history.record(`${item.id} delete ${when}: ${answer ?? "unanswered"}`)
    if (answer === "refused") {
      video.deleted = false
      if (when === "ended") return yield* Effect.die(`video ${id} has ended and can't be deleted`)
      return
    }
    const seen = yield* users.persist(`${item.id}/look/${when}`, show(users, item, id))
    if (seen !== undefined && seen !== "VideoNotFound") return yield* Effect.die(`video ${id} was deleted and is there`)
  })
