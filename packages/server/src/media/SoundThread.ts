/** A thread that measures sounds: a hostile file holds up this thread alone. */
import { answerTasks } from "../threads/Answering.ts"
import { readSound } from "./SoundFile.ts"

answerTasks((path: string) => readSound(path))
