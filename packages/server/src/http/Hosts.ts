/**
 * Decides which `Host` headers the server answers. It blocks DNS rebinding: a page of another site that points its own
 * name at this address gets no answer (decisions: Running it).
 */
import { isIPv4, isIPv6 } from "node:net"
import { networkInterfaces } from "node:os"

export type HostRule = (host: string | undefined) => boolean

const loopback = ["localhost", "127.0.0.1", "[::1]"]

/**
 * `allowed`: further names or addresses, without port. Ports are ignored. `addresses`: reads the IP addresses that are
 * allowed, too. DNS rebinding can't use them, because no name leads a browser to them.
 */
export const hostRule = (
  allowed: ReadonlyArray<string>,
  addresses: () => ReadonlyArray<string> = () => []
): HostRule => {
  const names = new Set([
    ...loopback,
    ...allowed.map((name) => hostName(name.includes("::") && !name.startsWith("[") ? `[${name}]` : name))
  ])
  /** The last accepted header: a caller that keeps its connection sends the same one each time. */
  let known: string | undefined
  return (host) => {
    if (host === undefined) return false
    if (host === known) return true
    const name = hostName(host)
    const ours = names.has(name) || isAmong(addresses, name)
    if (ours) known = host
    return ours
  }
}

const isAmong = (addresses: () => ReadonlyArray<string>, host: string): boolean => {
  const address = addressOf(host)
  return address !== undefined && addresses().includes(address)
}

/** Returns the IP address in its canonical spelling; undefined for a name. */
const addressOf = (host: string): string | undefined => {
  if (isIPv4(host)) return host
  if (!isIPv6(/^\[(.*)\]$/.exec(host)?.[1] ?? "")) return undefined
  return URL.parse(`http://${host}`)?.hostname.slice(1, -1)
}

/** Reads all IP addresses of this machine. */
export const machineAddresses = (): ReadonlyArray<string> =>
  Object.values(networkInterfaces()).flatMap((found = []) => found.map(({ address }) => address))

/** True where a request has more than one `Host` field, which RFC 9112 (3.2) answers with a 400. */
export const hasSeveralHosts = ({ rawHeaders }: { readonly rawHeaders: ReadonlyArray<string> }): boolean => {
  let count = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!
    if (name.length === 4 && name.toLowerCase() === "host") count++
  }
  return count > 1
}

/** Returns the name in lower case, without port and final dot. */
const hostName = (host: string): string => host.toLowerCase().replace(/:\d+$/, "").replace(/\.$/, "")

/** True where listening on `host` accepts connections only from this machine. */
export const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || host === "[::1]" || /^127(\.\d{1,3}){3}$/.test(host)

/**
 * Returns the origin under which the caller reached the server. A TLS proxy states its scheme in `X-Forwarded-Proto`.
 * The `Host` was checked before.
 */
export const originOf = ({ headers }: { readonly headers: Readonly<Record<string, unknown>> }): string =>
  `${headers["x-forwarded-proto"] === "https" ? "https" : "http"}://${String(headers["host"])}`
