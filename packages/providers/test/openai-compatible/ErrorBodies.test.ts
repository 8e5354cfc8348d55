/** What servers say of an error where their status alone would mislead, in the shapes in which they say it. */
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { MAX_FAILURES } from "@sluice/providers/openai-compatible/upstream/Breaker"
import { events, greets, says, type Script, streams } from "@sluice/testing/upstreams/RecordedServer"
import { over } from "./support/Servers.ts"
import { over as kindsOver, reasonOf } from "@sluice/testing/upstreams/Kinds"
import { until, wordsOf } from "@sluice/testing/upstreams/UpstreamWorld"

const answers =
  (status: number, body: unknown): Script =>
  (_, response) =>
    says(response, status, body)
const times = Array.from({ length: MAX_FAILURES + 1 })
const tokens = "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens"
const error = (message: string, more: object = {}) => ({ error: { message, ...more } })

const long: ReadonlyArray<readonly [name: string, status: number, body: object]> = [
  ["OpenAI, Groq", 400, error("Please reduce the length", { code: "context_length_exceeded", param: "messages" })],
  ["vLLM", 400, error(tokens, { type: "BadRequestError", param: null, code: 400 })],
  ["vLLM before", 400, { object: "error", message: tokens, type: "BadRequestError", param: null, code: 400 }],
  ["LiteLLM", 400, error(`litellm.ContextWindowExceededError: ${tokens}`, { type: null, param: null, code: "400" })],
  [
    "OpenRouter",
    400,
    error("Provider returned error", {
      code: 400,
      metadata: { raw: JSON.stringify(error(tokens)), provider_name: "x" }
    })
  ],
  [
    "llama.cpp",
    400,
    error("request (1407 tokens) is too much", {
      code: 400,
      type: "exceed_context_size_error",
      n_prompt_tokens: 1407,
      n_ctx: 256
    })
  ],
  [
    "llama.cpp before",
    500,
    error("the request exceeds the available context size", { code: 500, type: "server_error" })
  ],
  [
    "LocalAI",
    500,
    error("rpc error: code = Internal desc = request (20652 tokens) exceeds the available context size (8192 tokens)", {
      code: 500,
      type: ""
    })
  ],
  ["Ollama", 400, error("the input length exceeds the context length", { type: "api_error", code: null })],
  [
    "SGLang",
    400,
    {
      object: "error",
      message: "The input (61709 tokens) is longer than the model's context length (40960 tokens).",
      code: 400
    }
  ],
  ["TGI", 422, { error: "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000" }],
  ["LM Studio", 400, { error: "Cannot truncate prompt with n_keep (15028) >= n_ctx (7424)" }],
  [
    "Gemini",
    400,
    [error("The input token count (9) exceeds the maximum number of tokens allowed (8).", { code: 400 })]
  ],
  [
    "vLLM, when it is counted before the rest",
    400,
    error(
      "You passed 1193 input tokens and requested 7000 output tokens. However, the model's context length is only 8192 tokens, resulting in a maximum input length of 1192 tokens.",
      { type: "BadRequestError", param: "input_tokens", code: 400 }
    )
  ],
  ["vLLM in other words", 400, error("Please reduce the length of the input prompt. (parameter=input_tokens)")],
  ["Cerebras", 400, error("Please reduce the length of the messages or completion.")],
  ["Fireworks, Ollama's cloud", 400, error("The prompt is too long: 365407, model maximum context length: 262143")],
  ["Ollama, its own engine", 400, error("prompt too long; exceeded max context length by 100918 tokens")],
  ["Ollama over llama.cpp", 400, { error: "request (9001 tokens) exceeds the available context size (4096 tokens)" }],
  [
    "xAI",
    400,
    {
      code: "Client specified an invalid argument",
      error: "This model's maximum prompt length is 131072 but the request contains 136973 tokens."
    }
  ],
  ["Anthropic", 400, error("prompt is too long: 208656 tokens > 200000 maximum", { type: "invalid_request_error" })],
  [
    "Anthropic, with the answer",
    400,
    error(
      "input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000, decrease input length or `max_tokens` and try again"
    )
  ],
  ["Bedrock", 400, error("Input is too long for requested model.")],
  [
    "Moonshot",
    400,
    error("Invalid request: Your request exceeded model token limit: 262144 (requested: 291351)", {
      type: "invalid_request_error"
    })
  ],
  ["MiniMax", 400, error("invalid params, context window exceeds limit (2013)")],
  ["DashScope", 400, error("<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 202745]")],
  ["Zhipu", 400, error("Prompt exceeds max length", { code: "1261" })],
  ["Poolside", 400, error("Input length 131393 exceeds the maximum allowed input length of 131040 tokens.")],
  [
    "Mistral",
    400,
    {
      object: "error",
      message: "Prompt contains 40687 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
      type: "invalid_request_error",
      code: "3051"
    }
  ]
]

describe("a request that is too long", () => {
  it.live("is told so of every kind of server, and asked of no other one", () =>
    Effect.gen(function* () {
      for (const [name, status, body] of long) {
        const two = yield* over([answers(status, body), greets])
        for (const _ of times) expect([name, (yield* two.asked).reason]).toEqual([name, "too_long"])
        expect([name, two.counts(), yield* two.states]).toEqual([name, [times.length, 0], ["closed", "closed"]])
        // What was read to its end is no reason to hang up.
        expect([name, two.servers[0]!.hungUp]).toEqual([name, 0])
        expect(two.servers[0]!.sockets.size).toBeLessThan(times.length)
      }
    }).pipe(Effect.scoped)
  )

  it.live("may be told in the place of a stream's first word, with a number or without", () =>
    Effect.gen(function* () {
      for (const [name, , body] of long.filter(([, , body]) => !Array.isArray(body))) {
        for (const before of ["", "event: error\n"]) {
          const two = yield* over([(_, response) => streams(response, before + events(body)), greets])
          for (const _ of times) expect([name, (yield* two.asked).reason]).toEqual([name, "too_long"])
          expect([name, two.counts(), yield* two.states]).toEqual([name, [times.length, 0], ["closed", "closed"]])
        }
      }
    }).pipe(Effect.scoped)
  )

  it.live("may be one for vectors, also where the status is no error's", () =>
    Effect.gen(function* () {
      const tooBig = error("input (700 tokens) is too large to process. increase the physical batch size", {
        code: 500
      })
      for (const [status, body] of [
        [500, tooBig],
        [200, tooBig],
        [413, { error: "Input validation error: `inputs` must have less than 512 tokens. Given: 700" }]
      ] as const) {
        const { models } = yield* kindsOver(answers(status, body))
        const { embed, models: all } = models.embeddings!
        expect([status, yield* reasonOf(embed(all[0]!, ["Hi"], 4))]).toEqual([status, "too_long"])
      }
    }).pipe(Effect.scoped)
  )

  it.live("is a refusal like others where its words don't come soon, are too many or no JSON", () =>
    Effect.gen(function* () {
      const half = JSON.stringify(error(tokens)).slice(0, -1)
      for (const [name, script] of [
        ["slow", (_, response) => void response.writeHead(400).write(half)],
        ["cut", (_, response) => void response.writeHead(400).write(half, () => response.socket?.destroy())],
        ["large", answers(400, error(tokens, { more: "x".repeat(100_000) }))],
        ["page", answers(400, `<html>${tokens}</html>`)],
        ["nothing", answers(400, "")]
      ] as ReadonlyArray<readonly [string, Script]>) {
        const two = yield* over([script, greets])
        expect([name, (yield* two.asked).reason]).toEqual([name, "refused"])
        expect([name, two.counts()]).toEqual([name, [1, 0]])
        if (name === "slow") yield* until(() => two.servers[0]!.hungUp === 1)
      }
    }).pipe(Effect.scoped)
  )
})

it.live("who turns the service away with a 400 is ill, and the next one is asked", () =>
  Effect.gen(function* () {
    for (const [name, body] of [
      [
        "LiteLLM: no such model",
        error("/chat/completions: Invalid model name passed in model=x. Call `/v1/models`", {
          type: "invalid_request_error",
          param: "model",
          code: "400"
        })
      ],
      [
        "LiteLLM: no budget",
        error("Budget has been exceeded! Current cost: 26.075, Max budget: 0.25", {
          type: "budget_exceeded",
          code: "400"
        })
      ],
      ["LiteLLM: no budget of a user", error("ExceededBudget: End User=x over budget.", { code: "400" })],
      ["DeepSeek", error("Model Not Exist", { type: "invalid_request_error", code: "invalid_request_error" })],
      ["OpenRouter", error("org/model:free is not a valid model ID", { code: 400 })],
      ["Groq", error("The model `x` has been decommissioned", { code: "model_decommissioned" })],
      ["Gemini", [error("API key not valid. Please pass a valid API key.", { code: 400, status: "INVALID_ARGUMENT" })]]
    ] as const) {
      const two = yield* over([answers(400, body), greets])
      for (const _ of times) expect([name, wordsOf((yield* two.asked).events)]).toEqual([name, "Hello there"])
      expect([name, two.counts()[0], yield* two.states]).toEqual([name, MAX_FAILURES, ["open", "closed"]])
      const alone = yield* over([answers(400, body)])
      expect([name, (yield* alone.asked).reason]).toEqual([name, "denied"])
    }
    // A caller's words that are repeated are no matter of the server's.
    const repeated = error("Invalid value: 'Invalid model name passed in model=x'. Budget has been exceeded!", {
      code: 400
    })
    const sound = yield* over([answers(400, repeated)])
    for (const _ of times) expect((yield* sound.asked).reason).toBe("refused")
    expect(yield* sound.states).toEqual(["closed"])
  }).pipe(Effect.scoped)
)
