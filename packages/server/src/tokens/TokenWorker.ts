/** The thread that counts long texts, one after the other: `{id, text}` in, `{id, tokens}` out. */
import { parentPort } from "node:worker_threads"
import { makeCounter } from "./Tokenizer.ts"

const countText = makeCounter()

parentPort?.on("message", ({ id, text }: { readonly id: number; readonly text: string }) => {
  parentPort?.postMessage({ id, tokens: countText(text) })
})
