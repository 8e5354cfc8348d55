/** The id of the request being answered: in every answer's `X-Request-Id`, in every error, in every log line about it. */
import { Context } from "effect"

export const RequestId = Context.Reference<string>("@sluice/server/http/RequestId", { defaultValue: () => "" })

/** Whether a caller's own id may be kept. */
export const isRequestId = (text: string): boolean => /^[A-Za-z0-9._:-]{1,128}$/.test(text)

/** What every answer has. */
export const commonHeaders = (requestId: string): Record<string, string> => ({
  "x-request-id": requestId,
  "x-content-type-options": "nosniff",
  "cache-control": "no-store"
})
