/** One question to one server that answers as a test says, and what was understood of the answer. */
import { Effect } from "effect"
import { recordedServer, type Script } from "@sluice/testing/upstreams/RecordedServer"
import {
  ask,
  callsOf,
  chatEntry,
  endsOf,
  question,
  refusedOf,
  usageOf,
  wordsOf,
  world
} from "@sluice/testing/upstreams/UpstreamWorld"

export const asked = (script: Script, more: object = {}) =>
  Effect.gen(function* () {
    const server = yield* recordedServer(script)
    const models = yield* world([chatEntry([{ base_url: server.url }])])
    const answer = yield* ask(models, question(more))
    return {
      reason: answer.reason,
      words: wordsOf(answer.events),
      refused: refusedOf(answer.events),
      ends: endsOf(answer.events),
      usage: usageOf(answer.events),
      calls: callsOf(answer.events)
    }
  }).pipe(Effect.scoped)
