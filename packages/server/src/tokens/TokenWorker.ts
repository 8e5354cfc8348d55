/** The thread for long texts: tasks in, `{id, answer}` out, a step of each caller in turn. */
import { parentPort, receiveMessageOnPort } from "node:worker_threads"
import { counting, fitting } from "./Counting.ts"
import { makeTokenizer } from "./Tokenizer.ts"
import type { TokenAnswer, TokenMessage } from "./TokenThread.ts"
import { Turns } from "./Turns.ts"

const { slices } = makeTokenizer()
const turns = new Turns<TokenAnswer>()

const take = ({ caller, id, task }: TokenMessage) => {
  if (task === undefined) return turns.drop(caller, id)
  const steps =
    "texts" in task
      ? counting(task.texts, task.limit, task.limitOfAll, slices.count)
      : fitting(task.text, task.limit, slices)
  turns.add(caller, { id, steps })
}

parentPort?.on("message", (message: TokenMessage) => {
  take(message)
  while (!turns.isIdle) {
    const done = turns.step()
    if (done !== undefined) parentPort?.postMessage(done)
    // Between two steps: who came meanwhile, and who left.
    for (let next = more(); next !== undefined; next = more()) take(next.message)
  }
})

const more = (): { readonly message: TokenMessage } | undefined =>
  parentPort === null ? undefined : receiveMessageOnPort(parentPort)
