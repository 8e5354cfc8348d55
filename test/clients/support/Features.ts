/**
 * The list of features per client. The suites and `docs/compatibility.md` are both built from it. A feature that a client cannot
 * request is absent; a feature that does not work, or works in part, has its limitation in words. The types of the suites demand
 * one test for each entry.
 */

export const FEATURES = {
  text: "An answer",
  stream: "An answer, streamed",
  usage: "Tokens and cost of an answer, streamed too",
  cut: "An answer cut at its maximum length",
  choices: "Several answers at once",
  turns: "A second turn",
  picture: "An image in the prompt",
  tools: "Tools in a loop",
  toolsStreamed: "Tools in a loop, streamed",
  object: "Output that satisfies a schema",
  objectStreamed: "Output that satisfies a schema, streamed",
  abort: "Aborting a stream",
  broken: "A model that fails in mid-stream",
  retried: "A retry after a failed model, charged once",
  completions: "Legacy completions",
  embeddings: "Embeddings",
  images: "Images",
  imageEdits: "Editing images",
  speech: "Speech",
  speechStreamed: "Speech, in events",
  transcription: "Transcription",
  transcriptionStreamed: "Transcription, streamed",
  videos: "Videos: order, wait, download, delete",
  videoPictures: "Videos that begin with an image",
  models: "The list of models",
  others: "Files, batches, fine-tuning, moderations",
  wrong: "400: a field is wrong",
  unknownKey: "401: the key is unknown",
  noMoney: "402: the balance is too low",
  unknownModel: "404: the model is unknown",
  tooMany: "429: too many requests"
} as const
export type Feature = keyof typeof FEATURES

/** True if it works; otherwise the limitation in one sentence. */
export type Support = true | string

const errors = { wrong: true, unknownKey: true, noMoney: true, unknownModel: true, tooMany: true } as const
const chat = {
  text: true,
  stream: true,
  usage: true,
  cut: true,
  turns: true,
  picture: true,
  tools: true,
  toolsStreamed: true,
  object: true,
  objectStreamed: true,
  abort: true,
  broken: true,
  retried: true,
  ...errors
} as const
const noCost = "Tokens only. The client drops the cost."
const noEdits = "Refused with 404: there is no `/images/edits`."
const noCompletions = "Refused with 404: there is no `/completions`; use chat completions."

export const CLIENTS = {
  openai: {
    title: "openai",
    asks: "`/chat/completions`, and the endpoints of the other rows",
    packages: ["openai"],
    features: {
      ...chat,
      choices: true,
      completions: noCompletions,
      embeddings: true,
      images:
        "As `b64_json` or `url`, in the model's own format: PNG here, JPEG or WebP from real models. Another `output_format`, or a stream, is a 400 that names the field.",
      imageEdits: noEdits,
      speech: "`mp3`, `wav` and `pcm`. `opus`, `aac` and `flac` are a 400 that names the field.",
      speechStreamed: "The client returns the events as text for its caller to parse.",
      transcription: true,
      transcriptionStreamed: true,
      videos: true,
      videoPictures: true,
      models: true,
      others: "Refused with 404: there are none."
    }
  },
  openaiResponses: { title: "openai `responses`", asks: "`/responses`", packages: ["openai"], features: chat },
  aiCompatible: {
    title: "AI SDK, compatible",
    asks: "`/chat/completions`",
    packages: ["ai", "@ai-sdk/openai-compatible"],
    features: {
      ...chat,
      usage: "A stream has usage only with `includeUsage: true` of the provider.",
      object: "Needs `supportsStructuredOutputs: true` of the provider; otherwise the client does not send the schema.",
      completions: noCompletions,
      embeddings: true,
      images: true,
      imageEdits: noEdits
    }
  },
  aiChat: {
    title: "AI SDK, OpenAI `.chat()`",
    asks: "`/chat/completions`",
    packages: ["ai", "@ai-sdk/openai"],
    features: {
      ...chat,
      usage:
        "Tokens only in `usage`. A buffered answer has the cost in `response.body` with `include: { responseBody: true }`."
    }
  },
  aiOpenai: {
    title: "AI SDK, OpenAI",
    asks: "`/responses`",
    packages: ["ai", "@ai-sdk/openai"],
    features: {
      ...chat,
      turns:
        "Needs `providerOptions: { openai: { store: false } }`; otherwise the client refers to stored answers, a 400.",
      completions: noCompletions,
      embeddings: true,
      images: true,
      imageEdits: noEdits,
      speech: true,
      transcription: true
    }
  },
  langchain: {
    title: "LangChain",
    asks: "`/chat/completions`",
    packages: ["@langchain/openai", "@langchain/core"],
    features: {
      ...chat,
      usage: noCost,
      choices: true,
      completions: noCompletions,
      embeddings: true,
      images: true
    }
  },
  langchainResponses: {
    title: "LangChain `useResponsesApi`",
    asks: "`/responses`",
    packages: ["@langchain/openai", "@langchain/core"],
    features: {
      ...chat,
      usage: noCost
    }
  },
  agents: {
    title: "Agents, chat",
    asks: '`/chat/completions`, after `setOpenAIAPI("chat_completions")`',
    packages: ["@openai/agents"],
    features: { ...chat, usage: noCost }
  },
  agentsResponses: {
    title: "Agents",
    asks: "`/responses`",
    packages: ["@openai/agents"],
    features: {
      ...chat,
      usage: noCost,
      cut: "Raised as `ModelBehaviorError`: the client accepts no answer with status `incomplete`."
    }
  }
} as const satisfies Readonly<
  Record<
    string,
    {
      readonly title: string
      /** The endpoint of its chats. */
      readonly asks: string
      readonly packages: ReadonlyArray<string>
      readonly features: { readonly [F in Feature]?: Support }
    }
  >
>
export type ClientName = keyof typeof CLIENTS

/** The features of a client that its suite must test. */
export type FeatureOf<C extends ClientName> = keyof (typeof CLIENTS)[C]["features"] & Feature
