/** A thread that renders simulated sound and video, and reads the words back from a sound. */
import { registerMp3Encoder } from "@mediabunny/mp3-encoder"
import type { StudioTask } from "@sluice/simulator/models/Studio"
import { readSound } from "../media/SoundFile.ts"
import { answerTasks } from "../threads/TaskServer.ts"
import { renderFilm } from "./Films.ts"
import { renderSound, wordsFrom } from "./Sounds.ts"

export type StudioWork = StudioTask | { readonly kind: "words"; readonly path: string }
export type StudioAnswer = { readonly bytes: Uint8Array } | { readonly words: string | undefined }

const work = async (task: StudioWork): Promise<StudioAnswer> => {
  if (task.kind === "words") return { words: wordsFrom((await readSound(task.path)).comment) }
  return { bytes: task.kind === "sound" ? await renderSound(task) : await renderFilm(task) }
}

registerMp3Encoder()
answerTasks(work, (answer) =>
  "bytes" in answer &&
  answer.bytes.buffer instanceof ArrayBuffer &&
  answer.bytes.buffer.byteLength === answer.bytes.byteLength
    ? [answer.bytes.buffer]
    : []
)
