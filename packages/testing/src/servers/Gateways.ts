/** Two servers: one over the simulator, and one whose catalog points at the first, each with a stock client in front. */
import OpenAI from "openai"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { freePort, ServerProcess, temporaryDirectory, TEST_KEY } from "./ServerProcess.ts"

/** Of the second server's callers; the first one's key is TEST_KEY, and nobody else may see it. */
const FRONT_KEY = "svc_live_FRONTFRONTabcdefghijklmnopqrstuvwxyz12"

export interface Gateways {
  /** Over the simulator, twenty times as fast. */
  readonly back: ServerProcess
  readonly front: ServerProcess
  /** To the front. */
  readonly near: OpenAI
  /** To the back, past the front. */
  readonly far: OpenAI
  readonly end: () => Promise<void>
}

/** A model that chats at the price of the simulator's small one. */
export const chatEntry = (id: string, upstream: object) => ({
  kind: "chat",
  id,
  context_length: 32_768,
  max_output_tokens: 4_096,
  price_usd: { million_prompt_tokens: 0.15, million_completion_tokens: 0.6 },
  upstreams: [upstream]
})

export interface Places {
  /** The first server, as an upstream of a catalog. */
  readonly upstream: object
  /** Where nobody is. */
  readonly down: object
  readonly backPort: number
}

const UNASSIGNED_PORT = 4

/** `variables`: more of the second server's environment. */
export const startGateways = async (
  models: (places: Places) => ReadonlyArray<object> | Promise<ReadonlyArray<object>>,
  variables: Readonly<Record<string, string>> = {}
): Promise<Gateways> => {
  const directory = temporaryDirectory()
  const back = new ServerProcess({
    port: await freePort(),
    data: join(directory.path, "back"),
    key: TEST_KEY,
    speed: 20
  })
  const upstream = { base_url: `${back.origin}/v1`, api_key_env: "BACK_KEY", timeout_seconds: 30 }
  // Nobody listens there: a free port may be another's by the time of the test.
  const down = { base_url: `http://127.0.0.1:${UNASSIGNED_PORT}/v1` }
  const file = join(directory.path, "models.json")
  writeFileSync(file, JSON.stringify({ models: await models({ upstream, down, backPort: back.options.port }) }))
  const flags = ["--models", file]
  const front = new ServerProcess({
    port: await freePort(),
    data: join(directory.path, "front"),
    key: FRONT_KEY,
    flags
  })
  const end = async () => {
    await Promise.all([front.end("SIGKILL"), back.end("SIGKILL")])
    directory.remove()
  }
  await back.start()
  if (!(await front.ready(front.spawn({ ...variables, BACK_KEY: TEST_KEY, WRONG_KEY: `${TEST_KEY}x` })))) {
    await end()
    throw new Error(`The gateway did not start:\n${front.output}`)
  }
  const client = ({ options, origin }: ServerProcess) =>
    new OpenAI({ apiKey: options.key, baseURL: `${origin}/v1`, maxRetries: 0 })
  return { back, front, near: client(front), far: client(back), end }
}
