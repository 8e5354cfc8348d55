/** Reads the scenario of the simulated world. Fails with all that is wrong with it, in words. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { mostIssues, readJsonFile } from "@sluice/domain/files/JsonFile"
import { type Scenario, scenarioOf, setsModels } from "@sluice/simulator/scenario/Scenario"
import { Effect, Schema } from "effect"

export class ScenarioInvalid extends Schema.TaggedError<ScenarioInvalid>()("ScenarioInvalid", {
  file: Schema.String,
  issues: Schema.Array(Schema.String)
}) {
  override get message(): string {
    return `The scenario ${this.file} can't be used:\n${this.issues.map((issue) => `  ${issue}`).join("\n")}`
  }
}

/** `modelsElsewhere`: other servers answer as models. */
export const readScenario = (
  file: string,
  seed: number,
  modelsElsewhere: boolean
): Effect.Effect<Scenario, ScenarioInvalid> =>
  Effect.gen(function* () {
    const parsed = yield* Effect.mapError(readJsonFile(file), (issue) => [issue])
    if (modelsElsewhere && setsModels(parsed))
      return yield* Effect.fail(["models are those of --models; take one of the two out"])
    return yield* Effect.fromResult(scenarioOf(parsed, seed))
  }).pipe(
    Effect.mapError((issues) => new ScenarioInvalid({ file, issues: mostIssues(issues) })),
    Effect.provide(NodeFileSystem.layer)
  )
