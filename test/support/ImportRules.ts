/** Rules of imports: packages, capabilities, vendors, circles, and the code that a client must never load. */
import { isSource, perFile, type Rule } from "./Rule.ts"
import { DOOR, importCircles, loadedFrom, type Source } from "./Sources.ts"

/** The former address of the test double re-exports a package above its own, for one release. */
const isWithin = (source: Source) => isSource(source) && source.path !== DOOR

export const importRules: ReadonlyArray<Rule> = [
  {
    title: "packages import each other in one direction",
    instead: "move what both need down into domain, or hand it in through a port",
    find: perFile(isWithin, (source) =>
      source.imports.flatMap(({ specifier, file }) => {
        const target = /^packages\/([a-z-]+)\//.exec(file ?? "")?.[1]
        const fine = target === undefined || target === source.home || PACKAGES[source.home]?.includes(target) === true
        return fine ? [] : [`imports ${specifier}`]
      })
    ),
    breaks: ["packages/domain/src/jobs/A.ts", 'import { x } from "@sluice/server/Server"']
  },
  {
    title: "a package is entered through its exports",
    instead: "import `@sluice/package/path/File`, not a relative path into another package",
    find: perFile(isSource, (source) =>
      source.imports.flatMap(({ specifier, file }) =>
        specifier.startsWith(".") && file?.startsWith(`packages/${source.home}/src/`) !== true
          ? [`imports ${specifier}`]
          : []
      )
    ),
    breaks: ["packages/api/src/A.ts", 'import { x } from "../../domain/src/jobs/Job.ts"']
  },
  {
    title: "the tests of a package are imported by that package alone",
    instead: "move the shared fixture to packages/testing/src",
    find: perFile(
      () => true,
      (source) =>
        source.imports.flatMap(({ specifier, file }) => {
          const owner = /^(packages\/[a-z-]+\/)test\//.exec(file ?? "")?.[1]
          return owner === undefined || source.path.startsWith(owner) ? [] : [`imports ${specifier}`]
        })
    ),
    breaks: ["packages/server/test/A.test.ts", 'import { x } from "../../domain/test/support/Fixture.ts"']
  },
  {
    title: "domain, api, machine-shell and simulator import no vendor and no node:*",
    instead: "define a port (an interface) here and adapt it in packages/server",
    find: perFile(
      (source) => isWithin(source) && OUTSIDE[source.home] !== undefined,
      (source) =>
        source.imports.flatMap(({ specifier, file }) =>
          file !== undefined || OUTSIDE[source.home]?.test(specifier) === true ? [] : [`imports ${specifier}`]
        )
    ),
    breaks: ["packages/domain/src/jobs/A.ts", 'import { readFileSync } from "node:fs"']
  },
  {
    title: "only the server's composition and its world folder name the simulator and its shell",
    instead: "ask for the port; packages/server/src/Server.ts chooses who answers",
    find: perFile(
      (source) =>
        isSource(source) &&
        source.home === "server" &&
        !/^packages\/server\/src\/(Server\.ts$|world\/)/.test(source.path),
      (source) =>
        source.imports.flatMap(({ specifier }) =>
          /^@sluice\/(simulator|machine-shell)\//.test(specifier) ? [`imports ${specifier}`] : []
        )
    ),
    breaks: ["packages/server/src/jobs/A.ts", 'import { World } from "@sluice/simulator/world/World"']
  },
  {
    title: "capabilities of domain depend downwards",
    instead: "let the lower one answer, or signal through a row, and let the higher one ask (ARCHITECTURE.md, the map)",
    find: perFile(isSource, (source) => {
      const own = capabilityOf(source.path)
      if (own === undefined) return []
      if (RANKS[own] === undefined) return [`capability ${own} has no rank: give it one in test/support/ImportRules.ts`]
      return source.imports.flatMap(({ specifier, file, typeOnly }) => {
        const other =
          file?.startsWith("packages/domain/src/") === true ? (capabilityOf(file) ?? "the composition root") : own
        if (typeOnly && file === PRINCIPAL) return []
        const fine = other === own || (RANKS[other] ?? 9) <= (RANKS[own] ?? 0)
        return fine && !areApart(own, other) ? [] : [`${own} imports ${specifier}`]
      })
    }),
    breaks: ["packages/domain/src/billing/A.ts", 'import type { Job } from "../jobs/Job.ts"']
  },
  {
    title: "no capabilities of domain need each other's code",
    instead: "move the shared rule to the lower one; a type alone may be imported with `import type`",
    find: (sources) => {
      const uses = new Map<string, Map<string, string>>()
      for (const source of sources) {
        const own = capabilityOf(source.path)
        for (const { file, typeOnly } of source.imports) {
          const other = capabilityOf(file ?? "")
          if (typeOnly || own === undefined || other === undefined || own === other) continue
          uses.set(own, (uses.get(own) ?? new Map()).set(other, source.path))
        }
      }
      const reach = (from: string, seen = new Set<string>()): Set<string> => {
        for (const next of uses.get(from)?.keys() ?? []) if (!seen.has(next)) reach(next, seen.add(next))
        return seen
      }
      return [...uses].flatMap(([own, others]) =>
        [...others].flatMap(([other, path]) => (reach(other).has(own) ? [`${path}: ${own} -> ${other} -> ${own}`] : []))
      )
    },
    breaks: [
      "packages/domain/src/storage/A.ts",
      'import { a } from "../machines/A.ts"\n//@file packages/domain/src/machines/A.ts\nimport { b } from "../storage/A.ts"'
    ]
  },
  {
    title: "no files import each other in a circle",
    instead: "move the type or constant that both need into a file of its own",
    find: (sources) => importCircles(sources).map((circle) => circle.join(" -> ")),
    breaks: [
      "packages/domain/src/jobs/A.ts",
      'import type { B } from "./B.ts"\n//@file packages/domain/src/jobs/B.ts\nimport type { A } from "./A.ts"'
    ]
  },
  {
    title: "every export is imported somewhere",
    instead: "drop `export`: a private name can be changed by reading one file",
    find: (sources) => {
      const importers = new Map<string, Set<string>>()
      for (const { code, imports } of sources) {
        for (const { file } of imports)
          if (file !== undefined) importers.set(file, (importers.get(file) ?? new Set()).add(code))
      }
      return sources
        .filter(isWithin)
        .flatMap(({ code, path }) =>
          [...code.matchAll(EXPORTED)].flatMap(([, name]) =>
            [...(importers.get(path) ?? [])].some((other) => new RegExp(`\\b${name}\\b`).test(other))
              ? []
              : [`${path}: ${name}`]
          )
        )
    },
    breaks: [
      "packages/domain/src/jobs/A.ts",
      'export const a = 1\nexport const b = 1\n//@file packages/domain/src/jobs/B.ts\nimport { a } from "./A.ts"'
    ]
  },
  {
    title: "api loads only code that a client may load",
    instead: "import data, errors and pure rules of domain; use `import type` for a service's shape",
    find: (sources) => {
      const byPath = new Map(sources.map((source) => [source.path, source]))
      return sources
        .filter((source) => isSource(source) && source.home === "api")
        .flatMap((source) =>
          [...loadedFrom(source, byPath)].flatMap(([file, by]) => {
            const loaded = byPath.get(file)
            const outside = loaded?.imports.find(
              ({ specifier, typeOnly }) => !typeOnly && /^(node:|effect\/sql|@effect\/)/.test(specifier)
            )
            if (SERVER_SIDE.test(file)) return [`${source.path}: loads ${file} (through ${by})`]
            return outside === undefined ? [] : [`${source.path}: loads ${file}, which needs ${outside.specifier}`]
          })
        )
    },
    breaks: [
      "packages/api/src/A.ts",
      'import { a } from "@sluice/domain/jobs/A"\n//@file packages/domain/src/jobs/A.ts\nimport { SqlClient } from "effect/sql"'
    ]
  }
]

/** Exported values. Exported types may be unused: signatures name them. */
const EXPORTED = /^export (?:abstract |async )?(?:const|function|class) (\w+)/gm

/** The packages that each package may import. Tests and the bench are exempt. */
const PACKAGES: Readonly<Record<string, ReadonlyArray<string>>> = {
  domain: [],
  api: ["domain"],
  providers: ["domain"],
  "machine-shell": [],
  simulator: ["domain", "machine-shell"],
  server: ["domain", "api", "providers", "machine-shell", "simulator"],
  simulation: ["domain", "machine-shell", "simulator", "server"],
  testing: ["domain", "api", "providers", "machine-shell", "simulator", "server", "simulation"],
  cli: ["api", "server"]
}
/** The outside modules that a package may import. Packages without an entry may import their package.json's dependencies. */
const OUTSIDE: Readonly<Record<string, RegExp>> = {
  domain: /^(effect(\/.*)?|@effect\/sql-pg(\/PgClient)?)$/,
  api: /^effect(\/.*)?$/,
  "machine-shell": /^(effect(\/.*)?|just-bash|diff)$/,
  simulator: /^(effect(\/.*)?|@effect\/sql-pg(\/PgClient)?)$/
}

/** Inside domain an import goes to the same rank or a lower one, and never between the machines' side and the models' side. */
const RANKS: Readonly<Record<string, number>> = {
  database: 0,
  files: 0,
  idempotency: 0,
  limits: 0,
  metrics: 0,
  requests: 0,
  runtime: 0,
  billing: 1,
  environments: 2,
  machines: 2,
  storage: 2,
  models: 2,
  access: 3,
  jobs: 4,
  metering: 4,
  inference: 5,
  videos: 6
}
const MACHINES_SIDE = ["machines", "storage", "jobs"]
const MODELS_SIDE = ["models", "metering", "inference", "videos"]
const areApart = (own: string, other: string) =>
  (MACHINES_SIDE.includes(own) && MODELS_SIDE.includes(other)) ||
  (MODELS_SIDE.includes(own) && MACHINES_SIDE.includes(other))
/** The caller. Every capability may import this type. */
const PRINCIPAL = "packages/domain/src/access/Principal.ts"
const capabilityOf = (path: string) => /^packages\/domain\/src\/([a-z]+)\//.exec(path)?.[1]

/** Domain files that a client must never load. */
const SERVER_SIDE = /(Store|Reconciler|Migrations|Sweep)\.ts$|\/migrations\//
