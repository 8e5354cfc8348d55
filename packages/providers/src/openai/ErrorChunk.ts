/**
 * An error that comes with status 200, as the first event of a stream: many servers begin the stream before they look at
 * the request, and then put the status that they would have answered into the event.
 */
import { type Fields, field, isRecord, number, text } from "./Loose.ts"

export const isError = (chunk: Fields): boolean =>
  isRecord(chunk["error"]) || typeof chunk["error"] === "string" || chunk["object"] === "error"

/** What it says of the answer. `begun`: something was said before, so that the request was taken. */
export const flawOf = (chunk: Fields, begun: boolean): "broken" | "busy" | "refused" => {
  const error = isRecord(chunk["error"]) ? chunk["error"] : chunk
  const statuses = STATUS_FIELDS.map((name) => number(error[name]) ?? Number(text(error[name])))
  const message = text(field(error, "message")) ?? ""
  if (statuses.some((status) => BUSY.has(status)) || OVERLOADED.test(message)) return "busy"
  const refused = statuses.some((status) => REFUSED.has(status)) && !OWN_FAILURE.test(message)
  return refused && !begun ? "refused" : "broken"
}

/** vLLM and SGLang say `code`, LiteLLM too (as a text), TGI `http_status_code`. */
const STATUS_FIELDS = ["code", "status", "http_status_code"] as const
const BUSY = new Set([429, 503])
const REFUSED = new Set([400, 413, 415, 422])
/** TGI says 422 whatever it is. */
const OVERLOADED = /^model is overloaded/i
const OWN_FAILURE = /^(request failed during generation|incomplete generation)/i
