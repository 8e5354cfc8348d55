/**
 * Decides which `Host` headers the server answers. It blocks DNS rebinding: a page of another site that points its own
 * name at this address gets no answer (decisions: Running it).
 */
export type HostRule = (host: string | undefined) => boolean

const loopback = ["localhost", "127.0.0.1", "[::1]"]

/** `allowed`: further names or addresses, without port. Ports are ignored. */
export const hostRule = (allowed: ReadonlyArray<string>): HostRule => {
  const names = new Set([
    ...loopback,
    ...allowed.map((name) => hostName(name.includes("::") && !name.startsWith("[") ? `[${name}]` : name))
  ])
  /** The last accepted header: a caller that keeps its connection sends the same one each time. */
  let known: string | undefined
  return (host) => {
    if (host === undefined) return false
    if (host === known) return true
    const ours = names.has(hostName(host))
    if (ours) known = host
    return ours
  }
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
