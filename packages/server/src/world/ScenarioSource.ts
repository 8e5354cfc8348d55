/** Reads the scenario of the simulated world. Fails with every problem in it. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { limitIssues, readJsonFile } from "@sluice/domain/files/JsonFile"
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

/** `hasOtherModels`: models come from a catalog, so the scenario must not set any. */
export const readScenario = (
  file: string,
  seed: number,
  hasOtherModels: boolean
): Effect.Effect<Scenario, ScenarioInvalid> =>
  Effect.gen(function* () {
    const parsed = yield* Effect.mapError(readJsonFile(file), (issue) => [issue])
    if (hasOtherModels && setsModels(parsed))
      return yield* Effect.fail(["models can't be set together with --models; remove one of the two"])
    return yield* Effect.fromResult(scenarioOf(parsed, seed))
  }).pipe(
    Effect.mapError((issues) => new ScenarioInvalid({ file, issues: limitIssues(issues) })),
    Effect.provide(NodeFileSystem.layer)
  )
