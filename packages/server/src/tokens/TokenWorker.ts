/** The thread for long texts, one after the other: `{id, text, limit}` in, `{id, answer}` out: a count, or what fits the limit. */
import { parentPort } from "node:worker_threads"
import type { TokenQuestion } from "./NodeTokens.ts"
import { makeTokenizer } from "./Tokenizer.ts"

const { count, fit } = makeTokenizer()

parentPort?.on("message", ({ id, limit, text }: TokenQuestion) => {
  parentPort?.postMessage({ id, answer: limit === undefined ? count(text) : fit(text, limit) })
})
