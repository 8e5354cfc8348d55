/** Names a database in logs and errors without the user and password of its URL. */
import { Redacted } from "effect"

/** Returns `host:port/name`; a socket directory stands in place of the host. */
export const addressOf = (url: Redacted.Redacted): string => {
  const parsed = URL.parse(Redacted.value(url))
  if (parsed === null) return "the given --database-url (not a URL)"
  const host = parsed.searchParams.get("host") ?? parsed.hostname
  const port = parsed.searchParams.get("port") ?? parsed.port
  return `${host === "" ? "localhost" : host}:${port === "" ? "5432" : port}${parsed.pathname}`
}
