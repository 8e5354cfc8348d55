/**
 * Which URL that a caller gives do we ask at all? Pure. `http` and `https`, a host in its one plain spelling, a port that a web
 * server has; no user, no password, nothing that two readers could read differently.
 *
 * The rule behind the host's spelling: what is written must be what the parser makes of it, upper case aside. So octal, hex
 * and short addresses, percent-encoded hosts and all that Unicode folds into one another are refused without being listed.
 */
import { Result } from "effect"
import { isIP } from "node:net"

export type UrlFault = "length" | "characters" | "scheme" | "userinfo" | "host" | "port"

export interface Target {
  readonly secure: boolean
  /** A name in lower case, or an IP address without brackets. */
  readonly host: string
  readonly port: number
  /** With the query, without the fragment. */
  readonly path: string
  readonly href: string
}

/** Signed links are long, this is longer. */
const MAX_LENGTH = 8_192
const PRINTABLE = /^[!-[\]-~]*$/
const AUTHORITY = /^(https?):\/\/([^/?#]*)/i
const HOST_AND_PORT = /^(\[[^[\]]*\]|[^:[\]]*)(?::(.*))?$/
/** Labels of a name; `_` is in some that exist. */
const NAME = /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)*$/
/** The web's own ports and those that anybody may open: never those of mail, shells and directories. */
const WEB_PORTS = new Set([80, 443])
const FIRST_OPEN_PORT = 1_024

/** The URL as it was given, without anything cut off or repaired. */
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
  const bare = url.hostname.replace(/^\[(.*)\]$/, "$1")
  if (isIP(bare) === 0 && !NAME.test(bare)) return Result.fail("host")
  const secure = url.protocol === "https:"
  url.hash = ""
  return Result.succeed({
    secure,
    host: bare,
    port: url.port === "" ? (secure ? 443 : 80) : Number(url.port),
    path: url.pathname + url.search,
    href: url.href
  })
}

/** Where a redirect leads: checked like a URL that a caller gives, and never from https to http. */
export const redirectOf = (from: Target, location: string): Result.Result<Target, UrlFault> => {
  if (!PRINTABLE.test(location)) return Result.fail("characters")
  return Result.flatMap(targetOf(absolute(from, location)), (to) =>
    from.secure && !to.secure ? Result.fail("scheme") : Result.succeed(to)
  )
}

/** Only a path is left to the parser; where a host is named, its spelling must stay as it is. */
const absolute = (from: Target, location: string): string => {
  if (/^[a-z][a-z0-9+.-]*:/i.test(location)) return location
  if (location.startsWith("//")) return `${from.secure ? "https" : "http"}:${location}`
  return URL.parse(location, from.href)?.href ?? ""
}

const isOpen = (text: string): boolean => {
  if (!/^[1-9][0-9]{0,4}$/.test(text)) return false
  const port = Number(text)
  return WEB_PORTS.has(port) || (port >= FIRST_OPEN_PORT && port <= 65_535)
}
