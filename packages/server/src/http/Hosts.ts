/**
 * Which `Host` headers are answered. A page on another site that points its own name at this address (DNS rebinding) does
 * not get through, whatever its browser can reach (decisions: Running it).
 */
export type HostRule = (host: string | undefined) => boolean

const loopback = ["localhost", "127.0.0.1", "[::1]"]

/** `allowed`: further names or addresses, without port; a port is never looked at. */
export const hostRule = (allowed: ReadonlyArray<string>): HostRule => {
  const names = new Set([
    ...loopback,
    ...allowed.map((name) => bare(name.includes("::") && !name.startsWith("[") ? `[${name}]` : name))
  ])
  /** Callers that keep their connection say the same each time. */
  let known: string | undefined
  return (host) => {
    if (host === undefined) return false
    if (host === known) return true
    const ours = names.has(bare(host))
    if (ours) known = host
    return ours
  }
}

/** Lower case, without port and final dot. */
const bare = (host: string): string => host.toLowerCase().replace(/:\d+$/, "").replace(/\.$/, "")

/** Whether listening on a host reaches this machine alone. */
export const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || host === "[::1]" || /^127(\.\d{1,3}){3}$/.test(host)

/** How the caller reached us, as it wrote it: a proxy that speaks TLS for us says so. `Host` was checked before. */
export const originOf = ({ headers }: { readonly headers: Readonly<Record<string, unknown>> }): string =>
  `${headers["x-forwarded-proto"] === "https" ? "https" : "http"}://${String(headers["host"])}`
