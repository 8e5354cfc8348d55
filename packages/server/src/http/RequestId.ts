/**
 * The id of the current request. It is in every response's `X-Request-Id`, in every error and in every log line of the
 * request.
 */
import { Context } from "effect"
import type { IncomingMessage } from "node:http"

export const RequestId = Context.Reference<string>("@sluice/server/http/RequestId", { defaultValue: () => "" })

const ID = Symbol("the id of a request")

interface Named extends IncomingMessage {
  [ID]?: string
}

/**
 * Gives a request its id: the caller's own where that is valid, else a new one. It is stored on the request object,
 * without a lookup.
 */
export const nameRequest = (source: Named, newId: () => string): void => {
  const given = source.headers["x-request-id"]
  source[ID] = typeof given === "string" && /^[A-Za-z0-9._:-]{1,128}$/.test(given) ? given : newId()
}

/** Returns the id of a request that has been named. */
export const requestIdOf = (source: Named): string => source[ID] ?? ""

/** The headers of every response. */
export const commonHeaders = (requestId: string): Record<string, string> => ({
  "x-request-id": requestId,
  "x-content-type-options": "nosniff",
  "cache-control": "no-store"
})
