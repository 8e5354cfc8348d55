/** Thoughts of a server that failed are nobody's, whoever answers in its place. */
import { NodeCrypto } from "@effect/platform-node"
import { expect, it } from "@effect/vitest"
import { Inference } from "@sluice/domain/inference/chat/Inference"
import { Metering } from "@sluice/domain/metering/Metering"
import { ModelProvider } from "@sluice/domain/models/ModelProvider"
import { Tokens } from "@sluice/domain/models/Tokens"
import { Effect, Layer, Logger, Random } from "effect"
import { idOf, replica } from "@sluice/testing/fixtures/Workspace"
import { delta, events, recordedServer, type Script, streams } from "@sluice/testing/upstreams/RecordedServer"
import { fails, inOrder, over } from "./support/Servers.ts"
import { chatEntry, question, world } from "@sluice/testing/upstreams/UpstreamWorld"

const says =
  (...chunks: ReadonlyArray<unknown>): Script =>
  (_, response) =>
    streams(response, events(...chunks))
const counts = { choices: [], usage: { prompt_tokens: 5, completion_tokens: 40 } }
const thinks = [delta({ reasoning_content: "hmm" }), counts]
const MISTRALS = { type: "thinking", thinking: [{ type: "text", text: "hmm" }] }
const answers = [delta({ content: "Hi" }), delta({}, "stop"), "[DONE]"]

it.live("each server that thought and failed says that it is forgotten, before another one is heard", () =>
  Effect.gen(function* () {
    for (const [first, heard] of [
      [says(...thinks), ["Thought", "Running", "Anew", "Text", "Finish"]],
      [says(...thinks, { error: { code: 500 } }), ["Thought", "Running", "Anew", "Text", "Finish"]],
      // Of these there is nothing to forget.
      [fails(500), ["Text", "Finish"]],
      [says(...thinks, ...answers), ["Thought", "Running", "Text", "Finish"]],
      // Mistral thinks in parts of the content.
      [says(delta({ content: [MISTRALS] }), counts, ...answers), ["Thought", "Running", "Text", "Finish"]],
      // What was handed on is owed.
      [says(...thinks, delta({ content: "H" })), ["Thought", "Running", "Text"]]
    ] as const) {
      const { asked } = yield* over([first, says(...answers)])
      expect((yield* asked).events.map(({ _tag }) => _tag)).toEqual(heard)
    }
  }).pipe(Effect.scoped)
)

it.live("an answer costs what it costs without the thoughts of another server", () =>
  Effect.gen(function* () {
    const servers = yield* Effect.forEach([says(...thinks), says(...answers)], recordedServer)
    const models = yield* world([chatEntry(servers.map(({ url }) => ({ base_url: url })))])
    const books = Layer.succeed(Metering, { reserve: (charge) => Effect.succeed(charge), settle: () => Effect.void })
    // A token is a character here.
    const characters = Layer.succeed(
      Tokens,
      Tokens.by((text) => text.length)
    )
    const service = Inference.layerNoDeps.pipe(
      Layer.provide([books, characters, Layer.succeed(ModelProvider, models), NodeCrypto.layer, replica])
    )
    const answered = Effect.flatMap(Inference, ({ chat }) =>
      chat(idOf.principal(1), "r", question(), () => Effect.void)
    ).pipe(Effect.provide([service, Logger.layer([])]), Effect.provideService(Random.Random, inOrder))
    expect((yield* answered).usage.completionTokens).toBe("Hi".length)
    expect(servers.map(({ seen }) => seen.length)).toEqual([1, 1])
  }).pipe(Effect.scoped)
)
