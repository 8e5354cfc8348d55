/** The volumes of users, by their names: made when one is first wanted, deleted, made anew. */
import { Volumes } from "@sluice/domain/storage/Volumes"
import { Effect } from "effect"
import type { DeleteVolume } from "../plan/Plan.ts"
import type { UserContext } from "./UserContext.ts"

const VOLUME_REGION = "us-east"

/** The volume of this name, made when it is first wanted. */
export const volumeOf = Effect.fnUntraced(function* (users: UserContext, workspace: string, name: string) {
  const known = users.volumes.get(`${workspace}/${name}`)
  if (known !== undefined) return known
  const id = yield* users.persist(
    `${workspace}/${name}/create`,
    Effect.gen(function* () {
      const principal = yield* users.principal(workspace)
      const volumes = yield* Volumes
      const made = yield* volumes.create(principal, { name, region: VOLUME_REGION, size_gb: 10 }).pipe(
        Effect.map((volume) => volume.id),
        Effect.catchTags({
          VolumeNameTaken: () => Effect.void,
          RequestInvalid: Effect.die,
          LimitReached: Effect.die,
          IdempotencyInProgress: Effect.die,
          VolumeBeingDeleted: Effect.die
        })
      )
      if (made !== undefined) return made
      const page = yield* volumes.list(principal, { limit: 100, after: undefined })
      return page.items.find((volume) => volume.name === name)?.id
    })
  )
  if (id !== undefined) users.volumes.set(`${workspace}/${name}`, id)
  return id
})

/** Deletes a volume that somebody has made. */
export const deletion = (users: UserContext, item: DeleteVolume): Effect.Effect<void, unknown> =>
  Effect.gen(function* () {
    const name = `${item.workspace}/${item.volume}`
    const id = users.volumes.get(name)
    if (id === undefined) return
    const answer = yield* users.persist(
      item.id,
      Effect.gen(function* () {
        const principal = yield* users.principal(item.workspace)
        const volumes = yield* Volumes
        // Not found: an earlier try was heard and its answer was lost.
        return yield* Effect.as(volumes.remove(principal, id), "deleted").pipe(
          Effect.catchTags({
            VolumeNotFound: () => Effect.succeed("gone"),
            VolumeAttached: () => Effect.succeed("attached")
          })
        )
      })
    )
    users.history.record(`${item.id} ${answer ?? "unanswered"}`)
    if (answer !== "attached" && users.volumes.get(name) === id) users.volumes.delete(name)
  })
