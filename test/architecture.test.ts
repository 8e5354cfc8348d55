/** Checks the rules of the house (ARCHITECTURE.md, docs/words.md). Each failure names the place and the remedy. */
import { describe, expect, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { codeRules } from "./support/CodeRules.ts"
import { importRules } from "./support/ImportRules.ts"
import { isSource } from "./support/Rule.ts"
import { DOOR, readSources, root, sourceOf, type Source } from "./support/Sources.ts"
import { wordRules } from "./support/WordRules.ts"

const sources = readSources()
const rules = [...importRules, ...codeRules, ...wordRules]

describe("the house", () => {
  it.each(rules.map((rule) => [rule.title, rule] as const))("%s", (_title, rule) => {
    const found = rule.find(sources)
    if (found.length > 0) expect.unreachable(`${found.join("\n")}\n\n  Instead: ${rule.instead}`)
  })
})

describe("the rules", () => {
  it.each(rules.map((rule) => [rule.title, rule] as const))("can fail: %s", (_title, rule) => {
    const [path, text] = rule.breaks
    const [first = "", ...others] = text.split(/^\/\/@file /m)
    const broken: Array<Source> = [sourceOf(path, first)]
    for (const other of others)
      broken.push(sourceOf(other.slice(0, other.indexOf("\n")), other.slice(other.indexOf("\n") + 1)))
    expect(rule.find(broken)).not.toEqual([])
  })

  it("read the sources of the checkout", () => {
    expect(sources.length).toBeGreaterThan(50)
    const imports = sources.flatMap((source) => source.imports)
    const dangling = sources.flatMap(({ path, imports }) =>
      imports.flatMap(({ file }) =>
        file?.startsWith("packages/") === true && !known.has(file) ? [`${path}: ${file}`] : []
      )
    )
    expect(imports.filter(({ file }) => file !== undefined).length).toBeGreaterThan(100)
    expect(dangling).toEqual([])
  })
})
const known = new Set(sources.map((source) => source.path))

describe("dependencies", () => {
  const json = (path: string) => JSON.parse(readFileSync(root + path, "utf8"))
  const kinds = ["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"]
  const packages = [
    "domain",
    "api",
    "providers",
    "machine-shell",
    "simulator",
    "server",
    "simulation",
    "testing",
    "cli"
  ]
  const files = ["package.json", ...packages.map((name) => `packages/${name}/package.json`)]
  const asked = files.flatMap((file) =>
    kinds.flatMap((kind) =>
      Object.entries<string>(json(file)[kind] ?? {}).map(([name, version]) => ({ file, name, version }))
    )
  )

  it("have exact versions, the same everywhere", () => {
    const versions = new Map<string, string>()
    const wrong = asked.filter(({ name, version }) => {
      const first = versions.get(name) ?? version
      versions.set(name, first)
      return !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version) || version !== first
    })
    expect(wrong, "write the exact version (npm i --save-exact), the same in each package.json").toEqual([])
  })

  it("have one row each in docs/dependencies.md, which has no other rows", () => {
    const rows = [...readFileSync(`${root}docs/dependencies.md`, "utf8").matchAll(/^\| `([^`]+)` \| (.+) \|$/gm)]
    const names = new Set(asked.map(({ name }) => name).filter((name) => !name.startsWith("@sluice/")))
    expect(rows.map(([, name]) => name).sort(), "one row a dependency in docs/dependencies.md").toEqual(
      [...names].sort()
    )
    expect(rows.filter(([, , why]) => !/^[A-Z].{20,}\.$/.test(why ?? "")).map(([row]) => row)).toEqual([])
  })

  it("are declared by every package that imports them", () => {
    const undeclared = sources.flatMap((source) => {
      const { path, home, imports } = source
      const isProduct = packages.includes(home) && isSource(source) && path !== DOOR
      const own = isProduct ? [`packages/${home}/package.json`] : files
      return imports.flatMap(({ specifier, file }) => {
        if ((file !== undefined && !specifier.startsWith("@")) || specifier.startsWith("node:")) return []
        // Suites and fixtures may import every workspace.
        if (!isProduct && specifier.startsWith("@sluice/")) return []
        const name = /^(@[^/]+\/[^/]+|[^/]+)/.exec(specifier)?.[0] ?? specifier
        return asked.some((one) => one.name === name && own.includes(one.file)) ? [] : [`${path}: ${specifier}`]
      })
    })
    expect([...new Set(undeclared)], "add it to that workspace's package.json").toEqual([])
  })

  it("are locked without the host of a registry", () => {
    const hosts = [...readFileSync(`${root}package-lock.json`, "utf8").matchAll(/"resolved": "\w+:\/\/[^"]+"/g)].map(
      ([line]) => line
    )
    expect(hosts, "keep omit-lockfile-registry-resolved=true in .npmrc and run npm i again").toEqual([])
  })
})
