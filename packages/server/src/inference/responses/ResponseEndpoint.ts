/** POST /responses: runs the same models as chats, with requests and answers in the form of OpenAI's Responses API. */
import { bufferedResponseText } from "@sluice/api/inference/responses/ResponseWire"
import { decodeResponse, toBodyRefusal, type ResponseRequest } from "@sluice/domain/inference/responses/ResponseRequest"
import { makeAnswerEndpoint } from "../answers/AnswerEndpoint.ts"
import { ResponseEvents } from "./ResponseEvents.ts"

export const makeResponses = makeAnswerEndpoint<ResponseRequest>({
  path: "/v1/responses",
  decode: decodeResponse,
  chat: ({ chat }) => chat,
  whole: bufferedResponseText,
  wire: (request, createdAt) => new ResponseEvents(request, createdAt),
  refusal: ({ paths }, refusal) => toBodyRefusal(paths, refusal)
})
