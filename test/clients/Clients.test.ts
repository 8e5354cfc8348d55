/**
 * Runs unmodified third-party clients against one server: every feature of the compatibility table. The table is generated from
 * these suites, and a test compares both.
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { agentsChat, agentsResponses } from "./Agents.ts"
import { aiSdkCompatible } from "./AiSdkCompatible.ts"
import { aiSdkOpenAi, aiSdkOpenAiChat } from "./AiSdkOpenAi.ts"
import { langChain, langChainResponses } from "./LangChain.ts"
import { openAiChats } from "./OpenAiChats.ts"
import { openAiMedia } from "./OpenAiMedia.ts"
import { openAiResponses } from "./OpenAiResponses.ts"
import { compatibility } from "./support/Compatibility.ts"
import { CLIENTS, type ClientName, type Feature, FEATURES } from "./support/Features.ts"
import { type Host, startHost } from "./support/Host.ts"
import type { Check, Suite } from "./support/Suite.ts"

const suites: { readonly [C in ClientName]: Suite<C> } = {
  openai: { ...openAiChats, ...openAiMedia },
  openaiResponses: openAiResponses,
  aiCompatible: aiSdkCompatible,
  aiChat: aiSdkOpenAiChat,
  aiOpenai: aiSdkOpenAi,
  langchain: langChain,
  langchainResponses: langChainResponses,
  agents: agentsChat,
  agentsResponses
}

let host: Host
beforeAll(async () => {
  host = await startHost()
}, 300_000)
afterAll(() => host.close())

for (const [name, suite] of Object.entries(suites)) {
  // The Agents have one setting per process, so their tests run one by one.
  const group = name.startsWith("agents") ? describe : describe.concurrent
  group(CLIENTS[name as ClientName].title, () => {
    for (const [feature, check] of Object.entries<Check>(suite)) {
      it(FEATURES[feature as Feature], () => check(host))
    }
  })
}

describe("docs/compatibility.md", () => {
  it("equals the results of these suites (npm test -- test/clients -u writes it)", async () => {
    const path = join(import.meta.dirname, "..", "..", "docs", "compatibility.md")
    await expect(compatibility()).toMatchFileSnapshot(path)
    expect(readFileSync(path, "utf8")).toContain("| openai")
  })
  it("has one test for each feature", () => {
    for (const [name, suite] of Object.entries(suites)) {
      expect(Object.keys(suite).toSorted()).toEqual(Object.keys(CLIENTS[name as ClientName].features).toSorted())
    }
  })
})
