/** Every rule of the POST /jobs table at its edges, and all issues of a body at once. */
import { assert, describe, it } from "@effect/vitest"
import { SERVICE_NAMES, serviceVariables } from "@sluice/domain/jobs/ServiceVariables"
import * as JobRequest from "@sluice/domain/jobs/JobRequest"
import type * as JobRules from "@sluice/domain/jobs/JobRules"
import * as LaunchScript from "@sluice/domain/machines/LaunchScript"
import { launchSpecOf } from "@sluice/domain/machines/LaunchSpecs"
import { templates } from "@sluice/domain/machines/Template"
import { Redacted, Result } from "effect"
import fc from "fast-check"

const offer: JobRules.Offer = {
  gpuTypes: [
    { id: "H100", maxGpuCount: 8, regions: ["eu-north", "us-east"] },
    { id: "L4", maxGpuCount: 2, regions: ["eu-north"] }
  ],
  templates,
  priceOf: (type) => (type === "H100" ? 2_500_000_000n : type === "L4" ? 400_000_000n : undefined)
}
const minimal = { command: "true", gpu_type: "H100", max_runtime_minutes: 10 }
const decode = (body: unknown) => JobRequest.decode(body, offer)
const paths = (body: unknown) => {
  const result = decode(body)
  return Result.isFailure(result) ? [...new Set(result.failure.map((issue) => issue.path))].sort() : []
}
const with_ = (more: object) => ({ ...minimal, ...more })
const scriptFor = (names: ReadonlyArray<string>, over: Partial<LaunchScript.LaunchScript> = {}) => ({
  command: "",
  envKeys: [...names, ...SERVICE_NAMES],
  image: undefined,
  gpuCount: 1,
  ...over
})

describe("JobRequest", () => {
  it("fills in defaults for absent and null fields", () => {
    const nulls = {
      gpu_count: null,
      template: null,
      image: null,
      env: null,
      storage_id: null,
      name: null,
      region: null,
      labels: null
    }
    for (const body of [minimal, with_(nulls)]) {
      const request = Result.getOrThrow(decode(body))
      assert.strictEqual(request.spec.gpuCount, 1)
      assert.strictEqual(request.spec.template, "ubuntu-devbox")
      assert.strictEqual(request.price, 2_500_000_000n)
      assert.strictEqual(request.spec.capacityWaitMinutes, 30)
      assert.isUndefined(request.name)
    }
  })

  it("normalizes a volume id to one spelling", () => {
    const id = "01a20409-5ef9-7aaa-8bbb-0123456789ab"
    assert.strictEqual(Result.getOrThrow(decode(with_({ storage_id: id.toUpperCase() }))).volumeId, id)
  })

  it("says what a field must be, for any value", () => {
    const fields = Object.keys(JobRequest.JobRequestBody.fields)
    for (const value of [5, 1.5, true, "odd", [], {}, { type: "odd" }]) {
      const result = decode(Object.fromEntries(fields.map((field) => [field, value])))
      assert.isTrue(Result.isFailure(result))
      if (Result.isFailure(result)) for (const { message } of result.failure) assert.notMatch(message, /[|{<]|readonly/)
    }
    for (const max_runtime_minutes of ["1", null, Number.POSITIVE_INFINITY, 0.5, 0]) {
      const once = decode(with_({ max_runtime_minutes }))
      assert.deepStrictEqual(Result.isFailure(once) && once.failure, [
        { path: "max_runtime_minutes", message: "must be an integer from 1 to 1440" }
      ])
    }
    for (const body of [null, [], "x", 1]) {
      const whole = decode(body)
      assert.deepStrictEqual(Result.isFailure(whole) && whole.failure, [{ path: "", message: "must be a JSON object" }])
    }
    const wrong = decode(with_({ template: 5, env: "A=1" }))
    assert.deepStrictEqual(Result.isFailure(wrong) && wrong.failure, [
      { path: "template", message: "must be a string: an id of GET /templates" },
      { path: "env", message: "must be an object of names and strings" }
    ])
  })

  it("names every wrong field at once, and no value of a variable", () => {
    const body = {
      command: "",
      gpu_type: "H900",
      max_runtime_minutes: 0,
      gpu_count: 9,
      template: "windows",
      image: "-v /:/host",
      env: { "1X": "secret-value-1", SERVICE_X: "secret-value-2", OK: 5, BIG: "x".repeat(32_769) },
      storage_id: "../etc",
      name: "n".repeat(64),
      region: 7,
      max_cost_usd: -1,
      labels: { "": "x" },
      surprise: true
    }
    const result = decode(body)
    assert.isTrue(Result.isFailure(result))
    const expected = [
      "command",
      "env.BIG",
      "env.OK",
      "gpu_count",
      "gpu_type",
      "image",
      "max_cost_usd",
      "max_runtime_minutes"
    ]
    for (const path of [...expected, "name", "region", "storage_id", "surprise", "template"])
      assert.include(paths(body), path)
    assert.notInclude(JSON.stringify(result), "secret-value")
    assert.includeMembers(paths(with_({ env: { "1X": "a", SERVICE_X: "b" } })), ["env.1X", "env.SERVICE_X"])
    assert.deepStrictEqual(paths(with_({ labels: { "": "x" } })), ['labels.""'])
    const label = decode(with_({ labels: { _a: "x" } }))
    assert.match(Result.isFailure(label) ? label.failure[0]!.message : "", /begins with a letter or a digit/)
  })

  it("names a region without GPU types, also beside an unknown GPU type", () => {
    assert.sameMembers(paths(with_({ gpu_type: "H900", region: "moon" })), ["gpu_type", "region"])
    assert.sameMembers(paths(with_({ gpu_type: 7, region: "moon" })), ["gpu_type", "region"])
    assert.deepStrictEqual(paths(with_({ gpu_type: "H900", region: "us-east" })), ["gpu_type"])
    const told = decode(with_({ gpu_type: "H900", region: "moon" }))
    assert.deepInclude(Result.isFailure(told) ? told.failure : [], {
      path: "region",
      message: "must be one of eu-north, us-east"
    })
  })

  it("counts bytes, not characters", () => {
    assert.deepStrictEqual(paths(with_({ command: "é".repeat(32_769) })), ["command"])
    assert.deepStrictEqual(paths(with_({ env: { A: "é".repeat(16_384) } })), [])
    assert.deepStrictEqual(paths(with_({ env: { A: "é".repeat(16_385) } })), ["env.A"])
    const half = "x".repeat(32_768)
    // The limit applies to values: names don't count.
    assert.deepStrictEqual(paths(with_({ env: { A: half, B: half } })), [])
    assert.deepStrictEqual(paths(with_({ env: { A: half, B: half, C: "x" } })), ["env"])
    assert.deepStrictEqual(paths(with_({ name: "😀".repeat(63) })), [])
  })

  it("accepts the edges of every number", () => {
    const edges: ReadonlyArray<readonly [string, unknown, boolean]> = [
      ["max_runtime_minutes", 1, true],
      ["max_runtime_minutes", 1_440, true],
      ["max_runtime_minutes", 1_441, false],
      ["max_runtime_minutes", 1.5, false],
      ["max_runtime_minutes", "10", false],
      ["gpu_count", 8, true],
      ["gpu_count", 0, false],
      ["capacity_wait_minutes", 1_440, true],
      ["capacity_wait_minutes", 0, false],
      ["max_cost_usd", 0.01, true],
      ["max_cost_usd", 0, false],
      ["max_cost_usd", 1e308, false]
    ]
    for (const [field, value, good] of edges) {
      assert.deepStrictEqual(paths(with_({ [field]: value })), good ? [] : [field], `${field} = ${String(value)}`)
    }
    const keys = (n: number) => Object.fromEntries(Array.from({ length: n }, (_, i) => [`K${i}`, ""]))
    assert.deepStrictEqual(paths(with_({ env: keys(200) })), [])
    assert.deepStrictEqual(paths(with_({ env: keys(201) })), ["env"])
    assert.deepStrictEqual(paths(with_({ gpu_type: "L4", gpu_count: 3 })), ["gpu_count"])
    assert.deepStrictEqual(paths(with_({ gpu_type: "L4", region: "us-east" })), ["region"])
  })

  it("reports exactly how many bytes of command fit the launch script", () => {
    const room = LaunchScript.commandRoom(scriptFor(["TOKEN"]))
    assert.isAbove(room, 5_000)
    assert.isBelow(room, 6_000)
    const body = (n: number) => with_({ command: "x".repeat(n), env: { TOKEN: "t" } })
    assert.isTrue(Result.isSuccess(decode(body(room))))
    const over = decode(body(room + 1))
    assert.isTrue(
      Result.isFailure(over) && over.failure.length === 1 && over.failure[0]!.message.includes(`${room} bytes fit`)
    )
  })

  it("measures the launched script itself", () => {
    const names = fc.uniqueArray(fc.stringMatching(/^[A-Z_]{1,40}$/), { maxLength: 20 })
    const image = fc.constantFrom(undefined, "python:3.12")
    fc.assert(
      fc.property(
        names,
        image,
        fc.integer({ min: 1, max: 8 }),
        fc.integer({ min: -2, max: 2 }),
        (keys, image, n, d) => {
          const length = LaunchScript.commandRoom(scriptFor(keys, { image, gpuCount: n })) + d
          const env = Object.fromEntries(keys.map((key) => [key, "v"]))
          const request = decode(with_({ command: "x".repeat(length), env, image: image ?? null, gpu_count: n }))
          assert.strictEqual(Result.isSuccess(request), d <= 0)
          if (Result.isFailure(request)) return
          const { launchScriptBytes, spec } = request.success
          const variables = serviceVariables("id", "name", "default", spec)
          const launch = launchSpecOf({ id: "m", spec: { ...spec, variables }, volumeId: null }, request.success.env)
          const { command = "", gpuCount } = launch
          const script = { command, envKeys: [...launch.env.keys()], image: launch.image, gpuCount }
          assert.strictEqual(LaunchScript.sizeOf(script), launchScriptBytes)
          assert.isAtMost(launchScriptBytes, LaunchScript.LAUNCH_SCRIPT_LIMIT_BYTES)
        }
      )
    )
  })

  it("never puts a variable's value into the launch script, and carries the command byte for byte", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "binary", maxLength: 200 }).filter((text) => text.isWellFormed()),
        (command) => {
          const script = LaunchScript.render({ command, envKeys: ["TOKEN"], image: undefined, gpuCount: 1 })
          const encoded = /^SLUICE_COMMAND=(.*)$/m.exec(script)?.[1] ?? ""
          assert.strictEqual(Buffer.from(encoded, "base64").toString("utf8"), command)
          assert.notInclude(encoded, "'")
        }
      )
    )
  })

  it("returns a job or a refusal for any body", () => {
    fc.assert(
      fc.property(fc.anything({ withNullPrototype: true, withBigInt: false }), (body) => {
        const result = decode(body)
        if (Result.isFailure(result)) assert.isAbove(result.failure.length, 0)
      }),
      { numRuns: 2_000 }
    )
    assert.strictEqual(Redacted.value(Result.getOrThrow(decode(with_({ env: { A: "b" } }))).env.get("A")!), "b")
  })
})
