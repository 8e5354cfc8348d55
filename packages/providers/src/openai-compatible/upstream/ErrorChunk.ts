/**
 * An error that comes with status 200, as the first event of a stream: many servers begin the stream before they look at
 * the request, and then put the status that they would have answered into the event.
 */
import { callFailed, type CallFailed, statusFailed } from "./CallFailed.ts"
import { explained, UNCLEAR } from "./ErrorBody.ts"
import { type Fields, field, isRecord, number, text } from "./Loose.ts"

export const isError = (chunk: Fields): boolean =>
  isRecord(chunk["error"]) || typeof chunk["error"] === "string" || chunk["object"] === "error"

/** As the same status would have failed. `begun`: something was said before, so that the request was taken. */
export const failureOf = (chunk: Fields, begun: boolean): CallFailed => {
  const error = isRecord(chunk["error"]) ? chunk["error"] : chunk
  const message = text(field(error, "message")) ?? ""
  if (OVERLOADED.test(message)) return statusFailed(503, undefined, 0)
  const status = STATUS_FIELDS.map((name) => number(error[name]) ?? Number(text(error[name]))).find(isStatus)
  if (OWN_FAILURE.test(message) || (begun && !LATE.has(status))) return callFailed("malformed")
  // LM Studio gives no number.
  const failed = status === undefined ? callFailed("malformed") : statusFailed(status, undefined, 0)
  return status === undefined || UNCLEAR.has(status) ? explained(failed, chunk) : failed
}

/** vLLM and SGLang say `code`, LiteLLM too (as a text), TGI `http_status_code`. */
const STATUS_FIELDS = ["code", "status", "http_status_code"] as const
const isStatus = (status: number): boolean => Number.isInteger(status) && status >= 400 && status <= 599
/** What a server that took a request may say later: it has too much to do. Any other error then is a stream that breaks off. */
const LATE: ReadonlySet<number | undefined> = new Set([429, 503])
/** TGI says 422 whatever it is. */
const OVERLOADED = /^model is overloaded/i
const OWN_FAILURE = /^(request failed during generation|incomplete generation)/i
