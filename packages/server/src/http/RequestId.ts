/** The id of the request being answered: in every answer's `X-Request-Id`, in every error, in every log line about it. */
import { Context } from "effect"
import type { IncomingMessage } from "node:http"

export const RequestId = Context.Reference<string>("@sluice/server/http/RequestId", { defaultValue: () => "" })

/** The caller's own id, where it may be kept. */
export const givenRequestId = ({ headers }: IncomingMessage): string | undefined => {
  const given = headers["x-request-id"]
  return typeof given === "string" && /^[A-Za-z0-9._:-]{1,128}$/.test(given) ? given : undefined
}

/** What every answer has. */
export const commonHeaders = (requestId: string): Record<string, string> => ({
  "x-request-id": requestId,
  "x-content-type-options": "nosniff",
  "cache-control": "no-store"
})
