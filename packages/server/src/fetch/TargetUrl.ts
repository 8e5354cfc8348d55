/**
 * Checks a URL that a caller gives. Pure. It accepts `http` and `https`, a host in its canonical spelling and a port of
 * web servers; it refuses a user, a password, and everything that two parsers could read differently.
 *
 * The rule for the host: its text must equal the parser's result, apart from upper case. That refuses octal,
 * hexadecimal and short addresses, percent-encoded hosts and Unicode equivalents without listing them.
 */
import { Result } from "effect"
import { isIP } from "node:net"

export type UrlFault = "length" | "characters" | "scheme" | "userinfo" | "host" | "port"

export interface Target {
  readonly isSecure: boolean
  /** A name in lower case, or an IP address without brackets. */
  readonly host: string
  readonly port: number
  /** With the query, without the fragment. */
  readonly path: string
  readonly href: string
}

/** Longer than signed links, which are the longest ones in use. */
const MAX_LENGTH = 8_192
const PRINTABLE = /^[!-[\]-~]*$/
const AUTHORITY = /^(https?):\/\/([^/?#]*)/i
const HOST_AND_PORT = /^(\[[^[\]]*\]|[^:[\]]*)(?::(.*))?$/
/** The labels of a name. `_` is not valid, but some existing names contain it. */
const NAME = /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)*$/
/** The web's own ports, and the ports from 1024 on; never those of mail, shells or directories. */
const WEB_PORTS = new Set([80, 443])
const MIN_OPEN_PORT = 1_024

/** Parses the URL exactly as it was given, without removing or repairing anything. */
export const targetOf = (text: string): Result.Result<Target, UrlFault> => {
  if (text.length > MAX_LENGTH) return Result.fail("length")
  if (!PRINTABLE.test(text)) return Result.fail("characters")
  const authority = AUTHORITY.exec(text)?.[2]
  if (authority === undefined) return Result.fail("scheme")
  if (authority.includes("@")) return Result.fail("userinfo")
  const [, host = "", port] = HOST_AND_PORT.exec(authority) ?? []
  if (host === "") return Result.fail("host")
  if (port !== undefined && !isOpen(port)) return Result.fail("port")
  const url = URL.parse(text)
  if (url === null || url.hostname !== host.toLowerCase()) return Result.fail("host")
  const name = url.hostname.replace(/^\[(.*)\]$/, "$1")
  if (isIP(name) === 0 && !NAME.test(name)) return Result.fail("host")
  const isSecure = url.protocol === "https:"
  url.hash = ""
  return Result.succeed({
    isSecure,
    host: name,
    port: url.port === "" ? (isSecure ? 443 : 80) : Number(url.port),
    path: url.pathname + url.search,
    href: url.href
  })
}

/** Returns the target of a redirect, checked like a URL of a caller. A redirect from https to http fails. */
export const redirectOf = (from: Target, location: string): Result.Result<Target, UrlFault> => {
  if (!PRINTABLE.test(location)) return Result.fail("characters")
  return Result.flatMap(targetOf(absolute(from, location)), (to) =>
    from.isSecure && !to.isSecure ? Result.fail("scheme") : Result.succeed(to)
  )
}

/** Only a path is resolved by the parser. Where a host is named, its spelling must not change before the check. */
const absolute = (from: Target, location: string): string => {
  if (/^[a-z][a-z0-9+.-]*:/i.test(location)) return location
  if (location.startsWith("//")) return `${from.isSecure ? "https" : "http"}:${location}`
  return URL.parse(location, from.href)?.href ?? ""
}

const isOpen = (text: string): boolean => {
  if (!/^[1-9][0-9]{0,4}$/.test(text)) return false
  const port = Number(text)
  return WEB_PORTS.has(port) || (port >= MIN_OPEN_PORT && port <= 65_535)
}
