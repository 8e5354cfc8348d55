/** The credential of a request, as both surfaces read it (interface: Authentication). */
import type { IncomingMessage } from "node:http"

/** The bearer token; undefined when there is none, when the scheme is another, or when two are sent. */
export const bearerOf = (source: IncomingMessage): string | undefined => {
  const header = source.headers.authorization
  if (header === undefined || !/^bearer +/i.test(header) || sentTwice(source.rawHeaders)) return undefined
  return header.slice(7).trim()
}

/** Node keeps the first of two headers, a proxy may have looked at the second. */
const sentTwice = (rawHeaders: ReadonlyArray<string>): boolean => {
  let count = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (rawHeaders[i]!.length === 13 && rawHeaders[i]!.toLowerCase() === "authorization") count += 1
  }
  return count > 1
}
