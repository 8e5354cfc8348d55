/** The thread for long texts: tasks in, `{id, answer}` out, the callers in turn. */
import { parentPort, receiveMessageOnPort } from "node:worker_threads"
import { wallClock } from "../clock/WallTime.ts"
import { counting, fitting } from "./Counting.ts"
import { makeTokenizer } from "./Tokenizer.ts"
import type { TokenAnswer, TokenMessage } from "./TokenThread.ts"
import { Rotation } from "./Rotation.ts"

const { slices } = makeTokenizer()
/** 10 ms: ordinary text of 100 KB is counted in one turn. The most hostile takes three times as long for a step. */
const TURN_NANOS = 10_000_000n
const turns = new Rotation<TokenAnswer>(() => wallClock.monotonicTimeNanosUnsafe(), TURN_NANOS)

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
    const done = turns.next()
    if (done !== undefined) parentPort?.postMessage(done)
    // Between two turns: who came meanwhile, and who left.
    for (let next = more(); next !== undefined; next = more()) take(next.message)
  }
})

const more = (): { readonly message: TokenMessage } | undefined =>
  parentPort === null ? undefined : receiveMessageOnPort(parentPort)
