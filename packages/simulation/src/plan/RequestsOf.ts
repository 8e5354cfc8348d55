/**
 * What users ask of models, drawn item by item: chats and responses, with tools or twice, what comes whole, and videos.
 * Part of the plan (PlanOf.ts).
 */
import { between, type Chance } from "@sluice/machine-shell/Chance"
import type { Scenario } from "../scenario/Scenario.ts"
import type { Ask, Chat, Film, PlanItem, Tenant } from "./Plan.ts"

/** Lengths that the simulated camera makes. */
const FILM_SECONDS = [4, 8, 12] as const
/** Enough at once for what only a busy service does. */
const CROWD = 20

export const requestsOf = (
  scenario: Scenario,
  draws: Chance,
  named: (kind: string, perHour: number) => ReadonlyArray<string>,
  at: (id: string) => number,
  tenants: ReadonlyArray<Tenant>
): ReadonlyArray<PlanItem> => {
  const { shares } = scenario
  const whose = (id: string) => ({ id, at: at(id), workspace: oneOf(draws.draw(`${id}/workspace`), tenants).name })
  const hangUp = (id: string) =>
    draws.draw(`${id}/hang-up`) < shares.hangUps ? between(draws.draw(`${id}/hang-up-after`), 1, 3_000) : null

  const chat = (id: string): Chat => {
    const twin = draws.draw(`${id}/twin`) < shares.twins
    return {
      _tag: "Chat",
      ...whose(id),
      promptWords: between(draws.draw(`${id}/words`), 1, 60),
      maxTokens: between(draws.draw(`${id}/tokens`), 1, 200),
      streamed: draws.draw(`${id}/streamed`) < 0.5,
      // Twins are compared, so both are read to their ends.
      hangUpAfterMs: twin ? null : hangUp(id),
      asResponse: draws.draw(`${id}/response`) < shares.responses,
      tools: draws.draw(`${id}/tools`) < shares.withTools,
      twin,
      crowd: draws.draw(`${id}/crowd`) < shares.crowds ? CROWD : 0
    }
  }
  const ask =
    (kind: Ask["kind"]) =>
    (id: string): Ask => ({
      _tag: "Ask",
      ...whose(id),
      kind,
      words: between(draws.draw(`${id}/words`), 1, 80),
      count: between(draws.draw(`${id}/count`), 1, kind === "images" ? 3 : 8),
      hangUpAfterMs: hangUp(id)
    })
  const film = (id: string): Film => ({
    _tag: "Film",
    ...whose(id),
    seconds: oneOf(draws.draw(`${id}/seconds`), FILM_SECONDS),
    lookEveryMs:
      draws.draw(`${id}/forgotten`) < shares.forgotten ? null : between(draws.draw(`${id}/look`), 500, 20_000),
    downloads: between(draws.draw(`${id}/downloads`), 0, 3),
    deletes: oneOf(draws.draw(`${id}/deletes`), ["never", "early", "ended"])
  })
  return [
    ...named("chat", scenario.chatsPerHour).map(chat),
    ...named("embedding", scenario.embeddingsPerHour).map(ask("embeddings")),
    ...named("image", scenario.imagesPerHour).map(ask("images")),
    ...named("speech", scenario.speechPerHour).map(ask("speech")),
    ...named("transcription", scenario.transcriptionsPerHour).map(ask("transcriptions")),
    ...named("video", scenario.videosPerHour).map(film)
  ]
}

export const oneOf = <A>(drawn: number, all: ReadonlyArray<A>): A => all[Math.floor(drawn * all.length)]!
