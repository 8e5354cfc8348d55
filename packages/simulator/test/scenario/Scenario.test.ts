/** Scenario files: their fields, the worlds that they describe, and docs/scenario.*, which must agree with the code. */
import { describe, expect, it } from "@effect/vitest"
import { WORLD_FAULTS } from "@sluice/simulator/faults/Fault"
import { defaultWorld as defaultModels } from "@sluice/simulator/models/ModelWorld"
import { scenarioOf } from "@sluice/simulator/scenario/Scenario"
import { GpuTypeEntry, ScenarioFile } from "@sluice/simulator/scenario/ScenarioFile"
import { execute } from "@sluice/machine-shell/Execution"
import type { Programs } from "@sluice/machine-shell/Programs"
import { defaultWorld } from "@sluice/simulator/world/World"
import { Result, Schema } from "effect"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { runOf } from "@sluice/testing/fixtures/ShellRuns"

const docs = join(import.meta.dirname, "../../../../docs")
const readScenario = (file: unknown, seed = 1) =>
  Result.getOrThrowWith(scenarioOf(file, seed), (issues) => new Error(issues.join("\n")))
const issuesOf = (file: unknown): ReadonlyArray<string> => {
  const read = scenarioOf(file, 1)
  return Result.isFailure(read) ? read.failure : []
}
/** Returns the output and the exit of a command on a machine with these programs. */
const run = async (command: string, programs: Programs) => {
  const { chunks, exit } = await execute(runOf(command, { programs }))
  return { exit, log: Buffer.concat(chunks.map(({ bytes }) => bytes)).toString() }
}

describe("a scenario", () => {
  it("without fields is the default world, and so is the example except for its faults", () => {
    const empty = readScenario({}, 7)
    expect(empty.machines).toEqual({ ...defaultWorld, seed: 7 })
    expect(empty.models).toEqual(defaultModels(7))
    expect(Object.values(empty.faults).every((rate) => rate === 0)).toBe(true)
    const example = readScenario(JSON.parse(readFileSync(join(docs, "scenario.example.json"), "utf8")), 7)
    expect(example.machines).toEqual(empty.machines)
    expect(example.models).toEqual({ ...empty.models, models: example.models.models })
    const withVision = (models: typeof empty.models.models) =>
      models.map((model) => ({ ...model, vision: model.vision }))
    expect(withVision(example.models.models)).toEqual(withVision(empty.models.models))
    expect(example.faults.model_429).toBeGreaterThan(0)
  })

  it("sets the supply, the prices, the speed and the faults", () => {
    const { faults, machines, models } = readScenario({
      regions: [{ id: "moon", name: "The Moon" }],
      gpu_types: [
        { gpu_type: "B200", memory_gb: 192, max_gpu_count: 2, price_per_gpu_hour: 5.5, capacity: { moon: 4 } },
        { gpu_type: "OLD", memory_gb: 1, max_gpu_count: 1, price_per_gpu_hour: 0, capacity: {}, refused: true }
      ],
      launch_seconds: [0.5, 2],
      model_latency: "none",
      models: [
        {
          kind: "chat",
          id: "tiny",
          context_length: 1_000,
          max_output_tokens: 100,
          price_usd: { million_prompt_tokens: 1, million_completion_tokens: 0.000000001 }
        }
      ],
      programs: { python: "echo trained" },
      faults: { machine_lost: 0.5 }
    })
    expect(machines.programs).toEqual({ python: "echo trained" })
    expect(machines.gpuTypes[0]).toMatchObject({
      id: "B200",
      name: "B200",
      memoryMib: 196_608,
      priceUsdPerGpuHour: 5.5
    })
    expect([machines.refuse, machines.launchMs, machines.stopMs]).toEqual([["OLD"], [500, 2_000], defaultWorld.stopMs])
    expect(models.models).toMatchObject([{ id: "tiny", promptPrice: 1_000_000_000n, completionPrice: 1n }])
    expect([models.latency, models.videos]).toEqual(["none", []])
    expect([faults.machine_lost, faults.model_429]).toEqual([0.5, 0])
  })

  it("with faults is refused with every fault and its path", () => {
    expect(issuesOf(null)).toEqual([expect.stringContaining("the file must be")])
    expect(issuesOf({ gpus: 3, launch_seconds: [5, 1], faults: { model_429: 2, database_lost: 1 } })).toEqual([
      expect.stringContaining("gpus is no field here"),
      "launch_seconds must be two numbers of seconds, the smaller one first",
      expect.stringContaining("faults.database_lost is no field here"),
      "faults.model_429 must be a number from 0 to 1"
    ])
    const chat = { kind: "chat", id: "a", context_length: 100, max_output_tokens: 10 }
    const price_usd = { million_prompt_tokens: 1, million_completion_tokens: 1 }
    expect(issuesOf({ models: [{ ...chat, price_usd, words: [60, 25] }] })).toEqual([
      "models[0].words must be two numbers of words, the smaller one first"
    ])
    const type = { gpu_type: "A", memory_gb: 1, max_gpu_count: 1, price_per_gpu_hour: 1, capacity: { mars: 1 } }
    expect(issuesOf({ gpu_types: [type, { ...type, capacity: {} }] })).toEqual([
      "gpu_types[0].capacity.mars is none of the regions; there are eu-north, us-east, us-west",
      expect.stringContaining("gpu_types[1].gpu_type repeats gpu_types[0].gpu_type")
    ])
    expect(issuesOf({ programs: { cd: "true", python: "if" } })).toEqual([
      "programs.cd has a name that the shell itself needs; give it another",
      expect.stringContaining("programs.python must be a bash script: ")
    ])
    expect(issuesOf({ programs: { "../x": "true", y: 1 } })).toEqual([
      expect.stringContaining("programs"),
      expect.stringContaining("programs.y")
    ])
    expect(issuesOf({ regions: [{ id: "x", name: "X" }] })).toEqual([expect.stringContaining("give gpu_types as well")])
  })

  it("has a published schema, and a page that names every field and fault", async () => {
    const path = join(docs, "scenario.schema.json")
    const { definitions, schema } = Schema.toJsonSchemaDocument(ScenarioFile, { onExcessProperty: "error" })
    const $schema = "https://json-schema.org/draft/2020-12/schema"
    const document = {
      $schema,
      title: "Scenario of Sluice's simulated world (--scenario)",
      ...schema,
      $defs: definitions
    }
    // To update it: SLUICE_WRITE_SCHEMA=1 npm test -- packages/simulator/test/scenario
    if (process.env["SLUICE_WRITE_SCHEMA"] === "1") writeFileSync(path, `${JSON.stringify(document, null, 2)}\n`)
    expect(JSON.parse(readFileSync(path, "utf8"))).toEqual(JSON.parse(JSON.stringify(document)))

    const page = readFileSync(join(docs, "scenario.md"), "utf8")
    const worlds = [...page.matchAll(/```json\n([^]+?)```/g)].map(
      ([, snippet = ""]) => readScenario(JSON.parse(snippet)).machines
    )
    expect(worlds.map(({ launchMs }) => launchMs)).toEqual([[20_000, 90_000], defaultWorld.launchMs])
    const { exit, log } = await run("python train.py && ls; pip install torch; nvidia-smi", worlds[1]!.programs!)
    expect([log, exit?.code]).toEqual([
      "train.py: epoch 1\ntrain.py: epoch 2\nmodel.bin\nSuccessfully installed torch\nNo devices were found\n",
      6
    ])
    const names = [...Object.keys(ScenarioFile.fields), ...Object.keys(GpuTypeEntry.fields), ...WORLD_FAULTS]
    expect(names.filter((name) => name !== "$schema" && !page.includes(`\`${name}\``))).toEqual([])
  })
})
