/** Checks Redis URLs, and names a Redis in logs and errors without its user and password. */
import { Redacted } from "effect"

const DEFAULT_PORT = "6379"

/**
 * Accepts `redis[s]://[[user]:password@]host[:port][/number]`. Refuses every URL with a part that the client would
 * ignore.
 */
export const isRedisUrl = (text: string): boolean => {
  const url = URL.parse(text)
  return (
    url !== null &&
    (url.protocol === "redis:" || url.protocol === "rediss:") &&
    url.hostname !== "" &&
    /^(\/\d{0,4})?$/.test(url.pathname) &&
    url.search === "" &&
    url.hash === "" &&
    isDecodable(url.username) &&
    isDecodable(url.password)
  )
}

/** Returns `host:port/number`. */
export const redisAddressOf = (url: Redacted.Redacted): string => {
  const parsed = URL.parse(Redacted.value(url))
  if (parsed === null) return "the given --redis-url (not a URL)"
  const database = parsed.pathname.length > 1 ? parsed.pathname : "/0"
  return `${parsed.hostname}:${parsed.port === "" ? DEFAULT_PORT : parsed.port}${database}`
}

const isDecodable = (text: string): boolean => {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}
