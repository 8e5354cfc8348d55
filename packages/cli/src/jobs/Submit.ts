/**
 * Quotes and submits a job. A submission whose answer is lost is sent again with the same Idempotency-Key, so one
 * command line never creates two jobs.
 */
import type { JobRequestWire, JobWire } from "@sluice/api/jobs/JobWire"
import * as Crypto from "effect/Crypto"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import type { Connection } from "../connection/Connection.ts"
import type { Failure } from "../connection/Failure.ts"
import { Refused, Unreachable, UsageWrong } from "../connection/Failure.ts"
import { infra } from "../connection/Infra.ts"
import { jobBody } from "./JobBody.ts"
import type { JobFlags } from "./JobFlags.ts"

/** Returns the body that the flags describe, with the volume's id looked up if the flag gives its name. */
export const wantedJob = Effect.fnUntraced(function* (connection: Connection, flags: JobFlags) {
  const body = yield* jobBody(flags)
  if (Option.isNone(flags.volume)) return body
  return { ...body, storage_id: yield* volumeId(connection, flags.volume.value) }
})

export const quoteJob = (connection: Connection, payload: JobRequestWire) =>
  Effect.map(
    infra(connection, (client) => client.jobs.quote({ query: {}, payload })),
    ({ data }) => data
  )

export const submitJob = Effect.fnUntraced(function* (connection: Connection, payload: JobRequestWire) {
  const crypto = yield* Crypto.Crypto
  const once = yield* Effect.orDie(crypto.randomUUIDv7())
  return yield* infra(connection, (client) => client.jobs.create({ query: {}, payload }), { once }).pipe(
    Effect.map(({ data }): JobWire => data),
    Effect.retry({ while: mayBeThere, schedule: pauses, times: RETRIES }),
    Effect.mapError((failure) =>
      failure._tag === "Unreachable"
        ? new Unreachable({ ...failure, advice: "The job may have been created all the same: sluice jobs list" })
        : failure
    )
  )
})

const RETRIES = 6
const pauses = Schedule.exponential(Duration.millis(250))

/**
 * True if the outcome is unknown or the first attempt still runs: the answer was lost, or the service was unavailable.
 */
const mayBeThere = (failure: Failure): boolean =>
  failure._tag === "Unreachable" ||
  (failure instanceof Refused && (failure.code === "idempotency_in_progress" || failure.status === 503))

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
/** Bounds the lookup to 10,000 volumes. In an environment with more volumes, `--volume` may need the id. */
const MAX_PAGES = 100

const volumeId = Effect.fnUntraced(function* (connection: Connection, idOrName: string) {
  if (UUID.test(idOrName)) return idOrName
  let cursor: string | undefined
  for (let page = 0; page < MAX_PAGES; page++) {
    const query = { limit: 100, ...(cursor === undefined ? {} : { cursor }) }
    const { data, meta } = yield* infra(connection, (client) => client.storage.list({ query }))
    const found = data.find((volume) => volume.name === idOrName)
    if (found !== undefined) return found.id
    if (!meta.hasMore) break
    cursor = meta.cursor
  }
  return yield* new UsageWrong({
    issues: [
      `--volume ${idOrName}: the environment has no volume with this name. Check the name, or give the volume's id.`
    ]
  })
})
