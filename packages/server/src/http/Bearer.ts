/** Reads the credential of a request, for both surfaces (interface: Authentication). */
import type { IncomingMessage } from "node:http"

/** Returns the bearer token; undefined without one, with another scheme, or when two are sent. */
export const bearerOf = (source: IncomingMessage): string | undefined => {
  const header = source.headers.authorization
  if (header === undefined || !/^bearer +/i.test(header) || isSentTwice(source.rawHeaders)) return undefined
  return header.slice(7).trim()
}

/** Node keeps the first of two headers, while a proxy may have checked the second. */
const isSentTwice = (rawHeaders: ReadonlyArray<string>): boolean => {
  let count = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (rawHeaders[i]!.length === 13 && rawHeaders[i]!.toLowerCase() === "authorization") count += 1
  }
  return count > 1
}
