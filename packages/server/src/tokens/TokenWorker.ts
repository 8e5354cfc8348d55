/** The thread that counts long texts: it receives tasks, posts `{id, answer}`, and lets the callers take turns. */
import { parentPort, receiveMessageOnPort } from "node:worker_threads"
import { wallClock } from "../clock/WallTime.ts"
import { countInSteps, fitInSteps } from "./CountSteps.ts"
import { makeTokenizer } from "./Tokenizer.ts"
import type { TokenAnswer, TokenMessage } from "./TokenThread.ts"
import { Rotation } from "./Rotation.ts"

const { slices } = makeTokenizer()
/**
 * 10 ms in nanoseconds: 100 KB of ordinary text are counted in one turn. A step of the most hostile text takes three
 * times as long.
 */
const TURN_NANOS = 10_000_000n
const rotation = new Rotation<TokenAnswer>(() => wallClock.monotonicTimeNanosUnsafe(), TURN_NANOS)

const take = ({ caller, id, task }: TokenMessage) => {
  if (task === undefined) return rotation.drop(caller, id)
  const steps =
    "texts" in task
      ? countInSteps(task.texts, task.limit, task.limitOfAll, slices.count)
      : fitInSteps(task.text, task.limit, slices)
  rotation.add(caller, { id, steps })
}

parentPort?.on("message", (message: TokenMessage) => {
  take(message)
  while (!rotation.isIdle) {
    const done = rotation.next()
    if (done !== undefined) parentPort?.postMessage(done)
    // Between two turns, new tasks and dropped ones are received.
    for (let next = nextMessage(); next !== undefined; next = nextMessage()) take(next.message)
  }
})

const nextMessage = (): { readonly message: TokenMessage } | undefined =>
  parentPort === null ? undefined : receiveMessageOnPort(parentPort)
