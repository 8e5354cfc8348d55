/** The thread that measures sounds. A hostile file blocks only this thread. */
import { answerTasks } from "../threads/TaskServer.ts"
import { readSound } from "./SoundFile.ts"

answerTasks((path: string) => readSound(path))
