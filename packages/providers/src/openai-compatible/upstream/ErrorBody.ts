/**
 * What an upstream's error says in its own words, where its status alone says something else: that the request is too long,
 * which callers can mend, or that the service is turned away, which they can't. Nothing of the words goes any further.
 */
import { callFailed, type CallFailed, statusFailed } from "./CallFailed.ts"
import { field, list, text } from "./Loose.ts"

/**
 * Statuses that say too little. The 500 is llama.cpp's for an input that is longer than its batch, and LocalAI's for all that
 * its backends refuse.
 */
export const UNCLEAR: ReadonlySet<number> = new Set([400, 413, 422, 500])

/** What failed by its words; `failed` where they say no more. */
export const explained = (failed: CallFailed, body: unknown): CallFailed => {
  // Gemini's errors are in a list.
  const one = list(body)[0] ?? body
  const error = field(one, "error") ?? one
  const message = text(error) ?? text(field(error, "message")) ?? ""
  const names = [field(error, "type"), field(error, "code")]
  // What OpenRouter was told by who answers for it.
  const passedOn = text(field(field(error, "metadata"), "raw")) ?? ""
  if (names.some(isLongName) || TOO_LONG.test(message) || TOO_LONG.test(passedOn)) return callFailed("too_long")
  const turnedAway = TURNED_AWAY.find(([, words, name]) => words.test(message) || names.includes(name))
  return turnedAway === undefined ? failed : statusFailed(turnedAway[0], undefined, 0)
}

/** OpenAI's, Azure's and Groq's code, and llama.cpp's type. */
const isLongName = (name: unknown): boolean =>
  name === "context_length_exceeded" || name === "exceed_context_size_error"

const TOO_LONG = new RegExp(
  [
    // OpenAI, LiteLLM, OpenRouter, DeepSeek, Fireworks, Mistral; SGLang in one of its forms.
    "maximum context (length|limit)",
    "context[ _]length[ _]exceeded",
    // vLLM in all of its forms, OpenAI, Groq, Cerebras.
    "reduce the length of the (messages|input)",
    // vLLM without that advice, LM Studio.
    "context length (is|of) only",
    // vLLM of several models' inputs, SGLang.
    "longer than the (maximum model|model's context) length",
    // llama.cpp, OpenAI, Ollama, Gemini.
    "exceeds? the (available context size|context (window|length)|maximum number of tokens)",
    // SGLang, Poolside.
    "maximum allowed (input )?length",
    // llama.cpp for vectors.
    "too large to process\\. increase the physical batch size",
    // LM Studio in its other forms, and its other engine.
    "greater than the context length",
    "n_keep \\(\\d+\\) >= n_ctx",
    "context size has been exceeded",
    // TGI and its server of vectors.
    "`inputs` (tokens \\+ `max_new_tokens` must be|must have less than)",
    // Anthropic, Fireworks, Ollama; Anthropic with the answer; Bedrock.
    "prompt (is )?too long",
    "exceed context limit",
    "input is too long for requested model",
    // xAI, Azure, Moonshot, MiniMax, Zhipu, DashScope.
    "maximum prompt length is",
    "input tokens exceed the configured limit",
    "exceeded model token limit",
    "context window exceeds limit",
    "prompt exceeds max length",
    "range of input length should be"
  ].join("|"),
  "i"
)

/**
 * Words that come with a 400, the status that they mean, and the type or code that says the same. They are looked for at the
 * beginning alone: no text of a caller's that a message repeats may count against the upstream.
 */
const TURNED_AWAY: ReadonlyArray<readonly [status: number, words: RegExp, name: string]> = [
  // Gemini, xAI.
  [401, /^(API key (not valid|expired)|Incorrect API key provided)/, "invalid_api_key"],
  // LiteLLM, Anthropic.
  [402, /^(Budget has been exceeded!|ExceededBudget:|Your credit balance is too low)/, "budget_exceeded"],
  // LiteLLM with and without its path, DeepSeek, OpenRouter.
  [404, /^(\d{3}: )?(\{'error': ["'])?(\/?[\w/]{1,60}: )?Invalid model name passed in model=/, "model_not_found"],
  // Groq.
  [404, /^(Model Not Exist$|[\w./:-]{1,200} is not a valid model ID)/, "model_decommissioned"]
]
