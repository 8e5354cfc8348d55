/** Renders `docs/compatibility.md`: the features as a table, with the tested versions. */
import { readFileSync } from "node:fs"
import { root } from "../../support/Sources.ts"
import { CLIENTS, type ClientName, type Feature, FEATURES, type Support } from "./Features.ts"

const versions = (): Readonly<Record<string, string>> =>
  JSON.parse(readFileSync(`${root}package.json`, "utf8")).devDependencies

const names = Object.keys(CLIENTS) as ReadonlyArray<ClientName>
const supportOf = (client: ClientName, feature: Feature): Support | undefined =>
  (CLIENTS[client].features as { readonly [F in Feature]?: Support })[feature]

export const compatibility = (): string => {
  const installed = versions()
  const notes: Array<string> = []
  const cell = (client: ClientName, feature: Feature): string => {
    const support = supportOf(client, feature)
    if (support === undefined) return "-"
    if (support === true) return "yes"
    const known = notes.indexOf(support)
    return `[${known >= 0 ? known + 1 : notes.push(support)}]`
  }
  const row = (cells: ReadonlyArray<string>) => `| ${cells.join(" | ")} |`
  const features = (Object.keys(FEATURES) as ReadonlyArray<Feature>).map((feature) =>
    row([FEATURES[feature], ...names.map((client) => cell(client, feature))])
  )
  const clients = names.map((client) => {
    const { asks, packages, title } = CLIENTS[client]
    return row([title, packages.map((name) => `\`${name}\` ${installed[name] ?? "?"}`).join(", "), asks])
  })
  return `# Clients that others wrote

Made by \`test/clients\`, which runs these clients as they come against a running server: each cell but a dash is a test. It fails when
this page differs from it; \`npm test -- test/clients -u\` writes the page anew.

- **yes**: it works.
- **[1]**: it works in part, only in some way, or not at all, as the note says; a test shows just that.
- **-**: the client has no way to ask for it there.

${[row(["Feature", ...names.map((client) => CLIENTS[client].title)]), row(["---", ...names.map(() => "---")]), ...features].join("\n")}

${notes.map((note, index) => `${index + 1}. ${note}`).join("\n")}

| Client | Versions | Asks |
|---|---|---|
${clients.join("\n")}
`
}
