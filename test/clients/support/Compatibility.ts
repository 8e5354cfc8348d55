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
  return `# Third-party clients

\`test/clients\` runs these unmodified clients against a server and compares the results with this page: each cell but a dash is a test.
\`npm test -- test/clients -u\` writes the page.

- **yes**: it works.
- **[1]**: it works in part, under a condition, or not at all. The note says how, and a test shows it.
- **-**: the client cannot request it.

${[row(["Feature", ...names.map((client) => CLIENTS[client].title)]), row(["---", ...names.map(() => "---")]), ...features].join("\n")}

${notes.map((note, index) => `${index + 1}. ${note}`).join("\n")}

| Client | Versions | Requests |
|---|---|---|
${clients.join("\n")}
`
}
