/** Configuration options, and the refusal of a wrong configuration with a readable message before the server starts. */
import { describe, expect, it } from "@effect/vitest"
import { fromVariables, parse } from "@sluice/server/Config"
import { redisAddressOf } from "@sluice/server/limits/RedisAddress"
import { Redacted, Result } from "effect"

const issuesOf = (given: Parameters<typeof parse>[0]) => {
  const parsed = parse(given)
  return Result.isFailure(parsed) ? parsed.failure.issues : []
}

describe("Config", () => {
  it("has defaults that reach this machine only", () => {
    const config = Result.getOrThrow(parse({}))
    expect(config).toMatchObject({ host: "127.0.0.1", port: 8080, data: "./data", machines: "simulator", speed: 1 })
    expect(config.allowedHosts).toEqual(["127.0.0.1"])
    expect([config.models, Result.getOrThrow(parse({ models: "m.json" })).models]).toEqual([undefined, "m.json"])
  })

  it("refuses to listen beyond loopback without an explicit option", () => {
    for (const host of ["0.0.0.0", "::", "192.168.1.5", "example.com", "127.0.0.1.example.com"]) {
      expect(issuesOf({ host })[0]).toContain("--allow-remote")
      expect(issuesOf({ host, "allow-remote": "true" })).toEqual([])
    }
    for (const host of ["localhost", "127.0.0.1", "127.1.2.3", "::1", "[::1]"]) expect(issuesOf({ host })).toEqual([])
    for (const host of ["", " "]) {
      expect(issuesOf({ host })).toEqual(["--host must be an address or a name of this machine."])
    }
    expect(Result.getOrThrow(parse({ host: "[::1]" })).host).toBe("::1")
  })

  it("follows callers' links only with an option, and links to private addresses only with a second one", () => {
    const switches = (given: Parameters<typeof parse>[0]) => {
      const { hasImageUrls, hasPrivateTargets } = Result.getOrThrow(parse(given))
      return [hasImageUrls, hasPrivateTargets]
    }
    expect(switches({})).toEqual([false, false])
    expect(switches({ "allow-image-urls": "false" })).toEqual([false, false])
    expect(switches(fromVariables({ SLUICE_ALLOW_IMAGE_URLS: "1" }))).toEqual([true, false])
    expect(switches({ "allow-image-urls": "true", "allow-private-targets": "true" })).toEqual([true, true])
    expect(issuesOf({ "allow-private-targets": "true" })[0]).toContain("--allow-image-urls")
    for (const name of ["allow-image-urls", "allow-remote"] as const) {
      for (const text of ["yes", "on", "TRUE", "2"])
        expect(issuesOf({ [name]: text })[0]).toContain(`--${name} must be true or`)
    }
  })

  it("accepts a metrics token that is long and well-formed, and never prints it", () => {
    const token = "hunter2-hunter2-hunter2"
    const config = Result.getOrThrow(parse({ "metrics-token": token }))
    expect(Redacted.value(config.metricsToken!)).toBe(token)
    expect(JSON.stringify(config)).not.toContain(token)
    expect(Result.getOrThrow(parse({})).metricsToken).toBe(undefined)
    expect(fromVariables({ SLUICE_METRICS_TOKEN: token })).toEqual({ "metrics-token": token })
    for (const wrong of ["hunter2-hunter2", "hunter2 hunter2 hunter2", "hunter2-hunter2-hünter", "x".repeat(513)]) {
      const issues = issuesOf({ "metrics-token": wrong })
      expect(issues).toHaveLength(1)
      expect(issues[0]).toContain("SLUICE_METRICS_TOKEN")
      expect(issues[0]).not.toContain(wrong)
    }
  })

  it("reports every invalid value at once, and never a secret", () => {
    const secret = "hunter2-hunter2-hunter2"
    const issues = issuesOf({
      port: "99999",
      speed: "0",
      seed: "-1",
      machines: "docker",
      "bootstrap-key": secret
    })
    expect(issues).toHaveLength(5)
    expect(issues.join()).not.toContain(secret)
    for (const port of ["", "abc", "1.5", "-1"]) expect(issuesOf({ port })).toHaveLength(1)
  })

  it("accepts a Redis URL, refuses parts that Redis would ignore, and never prints the URL", () => {
    const urls = [
      ["redis://h", "h:6379/0"],
      ["redis://user:pa%23ss@redis.example.com:6380/3", "redis.example.com:6380/3"],
      ["rediss://:secret@[::1]:7000", "[::1]:7000/0"]
    ] as const
    for (const [url, address] of urls) {
      const config = Result.getOrThrow(parse({ "redis-url": url }))
      expect(redisAddressOf(config.redisUrl!)).toBe(address)
      expect(JSON.stringify(config)).not.toContain(url)
    }
    const wrong = [
      "h:6379",
      "http://h",
      "redis://",
      ...["/x", "?tls=true", "#1"].map((end) => `redis://:hunter2@h${end}`)
    ]
    wrong.push("redis://:hunter2%zz@h", "redis://:hunter2#@h")
    for (const url of wrong) {
      const issues = issuesOf({ "redis-url": url })
      expect(issues, url).toHaveLength(1)
      expect(issues[0]).not.toContain("hunter2")
    }
  })

  it("reads SLUICE_* variables and hides secrets", () => {
    const key = `svc_live_${"a".repeat(38)}`
    const given = fromVariables({
      SLUICE_PORT: "9000",
      SLUICE_DATABASE_URL: "postgres://u:p@h/d",
      SLUICE_REDIS_URL: "redis://u:p@h",
      SLUICE_BOOTSTRAP_KEY: key,
      SLUICE_DATA: "",
      PORT: "1"
    })
    expect(given).toEqual({
      port: "9000",
      "database-url": "postgres://u:p@h/d",
      "redis-url": "redis://u:p@h",
      "bootstrap-key": key
    })
    const config = Result.getOrThrow(parse(given))
    expect(config.port).toBe(9000)
    expect(JSON.stringify(config)).not.toMatch(/u:p|aaaa/)
    expect(Redacted.value(config.bootstrapKey!)).toBe(key)
  })
})
