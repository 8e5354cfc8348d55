/**
 * Finds the crash points of a server: before and after each statement that writes, and before and after each call of the machine
 * or video provider. Nothing else between an intent and its commit outlives the process.
 *
 * There is no fixed list: every action of the service at its ports is a point, named by the file and line of the store.
 */
import { PgClient } from "@effect/sql-pg"
import { BatchSql, RelaxedSql } from "@sluice/domain/database/Clients"
import type { VideoProvider } from "@sluice/domain/models/MediaProvider"
import { ModelProvider, type ModelProviderService } from "@sluice/domain/models/ModelProvider"
import { MachineProvider, type MachineProviderService } from "@sluice/domain/machines/MachineProvider"
import { application } from "@sluice/server/Application"
import { kindOf } from "@sluice/simulation/faults/DatabaseFaults"
import { Effect, Layer } from "effect"
import { SqlClient, type Statement } from "effect/sql"

export interface Watcher {
  /** The process is at this point just now. */
  readonly hit: (point: string) => void
  /** Each flush and each call of the provider is made twice, as after an answer that was lost. */
  readonly twice: boolean
}

/** The services of a server, watched. */
export const watchPoints = (watcher: Watcher) =>
  application.pipe(
    Layer.updateService(PgClient.PgClient, (sql) => watchedSql(sql, { ...watcher, twice: false })),
    Layer.updateService(SqlClient.SqlClient, (sql) => watchedSql(sql, { ...watcher, twice: false })),
    Layer.updateService(BatchSql, (sql) => watchedSql(sql, watcher)),
    Layer.updateService(RelaxedSql, (sql) => watchedSql(sql, { ...watcher, twice: false })),
    Layer.updateService(MachineProvider, (provider) => watchedMachines(provider, watcher)),
    Layer.updateService(ModelProvider, (provider) => watchedFilms(provider, watcher))
  )

const around = <A, E, R>(watcher: Watcher, point: string, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.suspend(() => {
    watcher.hit(`${point}, before`)
    return Effect.onExit(watcher.twice ? Effect.andThen(effect, effect) : effect, () =>
      Effect.sync(() => watcher.hit(`${point}, after`))
    )
  })

const WRITES = /\b(insert\s+into|update\s+[a-z]|delete\s+from)/i

/** A client runs a text (`unsafe`) or a template: it is a function, and called as one. */
const watchedSql = <Client extends SqlClient.SqlClient>(sql: Client, watcher: Watcher): Client => {
  const pointed = (text: string, statement: Statement.Statement<object>) => {
    const place = WRITES.test(text) ? placeOf(new Error()) : undefined
    return place === undefined ? statement : around(watcher, `${place}: ${kindOf(text)}`, statement)
  }
  return new Proxy(sql, {
    apply: (target, _, [strings, ...values]: [TemplateStringsArray, ...Array<unknown>]) =>
      pointed(strings.join("?"), target(strings, ...values)),
    get: (target, name) => {
      if (name !== "unsafe") return Reflect.get(target, name)
      return (text: string, parameters?: ReadonlyArray<unknown>) => pointed(text, target.unsafe(text, parameters))
    }
  })
}

/** The store that runs a statement: its file and line. */
const placeOf = ({ stack = "" }: Error): string | undefined =>
  /packages\/domain\/src\/[^:]*?(\w+\.ts:\d+)/.exec(stack)?.[1]

/** The calls that change the world; observations do not. */
const CALLS = ["launch", "stop", "release", "deleteVolume"] as const

const watchedMachines = (provider: MachineProviderService, watcher: Watcher): MachineProviderService => {
  const calls = CALLS.map((name) => {
    const call = provider[name] as (argument: unknown) => Effect.Effect<unknown, unknown>
    return [name, (argument: unknown) => around(watcher, `machines.${name}`, call(argument))]
  })
  return { ...provider, ...Object.fromEntries(calls) }
}

const watchedFilms = (provider: ModelProviderService, watcher: Watcher): ModelProviderService => {
  const { videos } = provider
  if (videos === undefined) return provider
  const watchPoints: VideoProvider = {
    ...videos,
    submit: (model, task) => around(watcher, "videos.submit", videos.submit(model, task)),
    remove: (model, reference) => around(watcher, "videos.remove", videos.remove(model, reference))
  }
  return { ...provider, videos: watchPoints }
}
