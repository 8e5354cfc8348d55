/** The id of the request being answered: in every answer's `X-Request-Id`, in every error, in every log line about it. */
import { Context } from "effect"
import type { IncomingMessage } from "node:http"

export const RequestId = Context.Reference<string>("@sluice/server/http/RequestId", { defaultValue: () => "" })

const ID = Symbol("the id of a request")

interface Named extends IncomingMessage {
  [ID]?: string
}

/** Before anybody answers it: the caller's own id is kept where it may be. On the request itself, which costs nothing. */
export const nameRequest = (source: Named, newId: () => string): void => {
  const given = source.headers["x-request-id"]
  source[ID] = typeof given === "string" && /^[A-Za-z0-9._:-]{1,128}$/.test(given) ? given : newId()
}

/** The id of a request that has been named. */
export const requestIdOf = (source: Named): string => source[ID] ?? ""

/** What every answer has. */
export const commonHeaders = (requestId: string): Record<string, string> => ({
  "x-request-id": requestId,
  "x-content-type-options": "nosniff",
  "cache-control": "no-store"
})
