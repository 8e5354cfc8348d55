/** Customers of the chat server: a workspace with some money, its key, and the stock client that uses it. */
import type { Principal } from "@sluice/domain/access/Principal"
import { Effect } from "effect"
import OpenAI, { APIError } from "openai"
import { openWorkspace } from "@sluice/testing/fixtures/Workspace"
import { baseUrl, type Keys } from "./ChatServer.ts"

/** The tenants that the server accepts. */
export const keys: Keys = new Map()
/** One USD. */
export const NANO = 1_000_000_000n

let workspaces = 0

/** A workspace of its own with `balance` nano-USD, and a client for it. */
export const customer = Effect.fn(function* (balance: bigint, change: Partial<Principal> = {}) {
  const principal = { ...(yield* openWorkspace(++workspaces, balance)), ...change }
  const apiKey = `svc_live_customer${workspaces}`
  keys.set(apiKey, principal)
  const url = yield* baseUrl
  return { principal, apiKey, url, client: new OpenAI({ apiKey, baseURL: `${url}/v1`, maxRetries: 0 }) }
})

export const user = (content: string) => [{ role: "user" as const, content }]

/** The error that the client throws. */
export const failure = (run: () => PromiseLike<unknown>) =>
  Effect.promise(() =>
    Promise.resolve(run()).then(
      () => undefined,
      (error: unknown) => error
    )
  ).pipe(
    Effect.map((error) => {
      if (!(error instanceof APIError)) throw error ?? new Error("No error came")
      return error
    })
  )

/** A tool of a response: a function of a city. */
export const functionTool = (name: string) => ({
  type: "function" as const,
  name,
  description: `Gives ${name}`,
  parameters: {
    type: "object",
    properties: { city: { type: "string" } },
    required: ["city"],
    additionalProperties: false
  },
  strict: true
})
