/** The other side of `WorkThread`: a thread's file that answers its tasks, one after the other. */
import { parentPort } from "node:worker_threads"
import type { Answer } from "./WorkThread.ts"

/** `moved`: the buffers of an answer that are handed over rather than copied. */
export const answerTasks = <I, O>(
  work: (task: I) => Promise<O>,
  moved: (answer: O) => ReadonlyArray<ArrayBuffer> = () => []
) => {
  const answer = (value: Answer<O>, buffers: ReadonlyArray<ArrayBuffer> = []) =>
    parentPort?.postMessage(value, [...buffers])
  parentPort?.on("message", ({ id, task }: { readonly id: number; readonly task: I }) => {
    work(task).then(
      (value) => answer({ id, value }, moved(value)),
      (cause: unknown) => answer({ id, fault: cause instanceof Error ? cause.message : String(cause) })
    )
  })
}
