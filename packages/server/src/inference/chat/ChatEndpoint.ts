/** POST /chat/completions: the form of chat requests and answers. */
import { completionText } from "@sluice/api/inference/chat/ChatWire"
import { decodeChat } from "@sluice/domain/inference/chat/Chat"
import { type ChatRequest } from "@sluice/domain/models/ChatRequest"
import { makeAnswerEndpoint } from "../answers/AnswerEndpoint.ts"
import { ChatEvents } from "./ChatEvents.ts"

export const makeChat = makeAnswerEndpoint<ChatRequest>({
  path: "/v1/chat/completions",
  decode: decodeChat,
  chat: (request) => request,
  whole: (_, answer) => completionText(answer),
  wire: ({ includeUsage }) => new ChatEvents(includeUsage)
})
