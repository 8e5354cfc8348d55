/** Which Redis is meant? What a URL of one must be, and where it is in words that may be shown: never user or password. */
import { Redacted } from "effect"

const DEFAULT_PORT = "6379"

/** `redis[s]://[[user]:password@]host[:port][/number]`, and nothing that would be ignored. */
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

/** `host:port/number`. */
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
