/** Fields of a job at the edges of every rule, and the job that is recorded from a body. */
import { assert, describe, it } from "@effect/vitest"
import * as JobRequest from "@sluice/domain/jobs/JobRequest"
import { templates } from "@sluice/domain/machines/Template"
import { Result } from "effect"

const offer = {
  gpuTypes: [{ id: "H100", maxGpuCount: 8, regions: ["eu-north"] }],
  templates,
  priceOf: () => 2_500_000_000n
}
const minimal = { command: "true", gpu_type: "H100", max_runtime_minutes: 10 }
const decode = (more: object) => JobRequest.decode({ ...minimal, ...more }, offer)
const LONE_SURROGATE = "a\ud800"
const numbered = (n: number, value: string) => Object.fromEntries(Array.from({ length: n }, (_, i) => [`k${i}`, value]))

describe("The fields of a job", () => {
  it("accept values that can be stored, shown in a line and passed to a machine, and nothing else", () => {
    const wrong: ReadonlyArray<readonly [object, string]> = [
      [{ command: "echo \0" }, "command"],
      [{ command: LONE_SURROGATE }, "command"],
      [{ name: "two\nlines" }, "name"],
      [{ name: "a\0" }, "name"],
      [{ name: LONE_SURROGATE }, "name"],
      [{ description: "d".repeat(1_025) }, "description"],
      [{ description: "two\nlines" }, "description"],
      [{ description: "abc\u202edef" }, "description"],
      [{ description: " \u2800" }, "description"],
      [{ image: "i".repeat(256) }, "image"],
      [{ env: { A: "\0" } }, "env.A"],
      [{ env: { A: LONE_SURROGATE } }, "env.A"],
      [{ env: { ["A".repeat(256)]: "" } }, `env.${"A".repeat(64)}`],
      [{ labels: numbered(17, "") }, "labels"],
      [{ labels: { ["k".repeat(64)]: "" } }, `labels.${"k".repeat(64)}`],
      [{ labels: { k: "v".repeat(64) } }, "labels.k"],
      [{ labels: { k: "two\nlines" } }, "labels.k"],
      [{ max_cost_usd: 0.000_000_000_9 }, "max_cost_usd"],
      [{ max_cost_usd: 1_000_000.01 }, "max_cost_usd"]
    ]
    for (const [more, path] of wrong) {
      const result = decode(more)
      assert.deepStrictEqual(Result.isFailure(result) && result.failure.map((issue) => issue.path), [path])
    }
    const right = [
      { command: "printf 'é\\n'\n\ttrue" },
      { image: "i".repeat(255) },
      { env: { ["A".repeat(255)]: "two\nlines" } },
      { description: "𝒅".repeat(1_024) },
      { description: null },
      { labels: numbered(16, "v".repeat(63)) },
      { labels: { ["k".repeat(63)]: "a.b_c/d-e:f@g h" } },
      { max_cost_usd: 0.000_000_001 },
      { max_cost_usd: 1_000_000 }
    ]
    for (const more of right) assert.isTrue(Result.isSuccess(decode(more)), JSON.stringify(more))
  })

  it("are recorded with the job", () => {
    const request = Result.getOrThrow(
      decode({
        name: "train",
        description: "nightly run",
        gpu_count: 3,
        image: "python:3.12",
        region: "eu-north",
        capacity_wait_minutes: 7,
        max_cost_usd: 1.5,
        labels: { team: "a" }
      })
    )
    assert.deepInclude(request, { name: "train", labels: { team: "a" }, price: 7_500_000_000n })
    assert.deepInclude(request.spec, {
      gpuCount: 3,
      image: "python:3.12",
      region: "eu-north",
      capacityWaitMinutes: 7,
      maxRuntimeMinutes: 10,
      maxCostNanoUsd: "1500000000",
      description: "nightly run"
    })
    assert.isUndefined(Result.getOrThrow(decode({ name: "" })).name)
    assert.notProperty(Result.getOrThrow(decode({ description: "" })).spec, "description")
  })
})
