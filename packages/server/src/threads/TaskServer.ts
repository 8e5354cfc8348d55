/** The thread's side of `WorkThread`: runs the tasks and posts their answers. */
import { parentPort } from "node:worker_threads"
import type { Answer } from "./WorkThread.ts"

/** `transferred`: the buffers of an answer that are transferred instead of copied. */
export const answerTasks = <I, O>(
  work: (task: I) => Promise<O>,
  transferred: (answer: O) => ReadonlyArray<ArrayBuffer> = () => []
) => {
  const answer = (value: Answer<O>, buffers: ReadonlyArray<ArrayBuffer> = []) =>
    parentPort?.postMessage(value, [...buffers])
  parentPort?.on("message", ({ id, task }: { readonly id: number; readonly task: I }) => {
    work(task).then(
      (value) => answer({ id, value }, transferred(value)),
      (cause: unknown) => answer({ id, fault: cause instanceof Error ? cause.message : String(cause) })
    )
  })
}
