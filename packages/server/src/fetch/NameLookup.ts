/**
 * Resolves host names to addresses; an unknown name, or one not resolved in time, has none. Names that callers give are
 * resolved by DNS alone, through a resolver that can be cancelled: the system's lookup blocks a thread of the shared
 * pool for as long as a foreign name server likes. Where private targets are allowed, the machine's own names
 * (`localhost`, the hosts file) count too.
 */
import { Effect } from "effect"
import { promises as dns } from "node:dns"

export type NameLookup = (name: string) => Effect.Effect<ReadonlyArray<string>>

/** Real milliseconds of one query, and the number of attempts. */
const RESOLVER_OPTIONS = { timeout: 2_000, tries: 2 }

/** Resolves by DNS. `servers` (`address:port`) replace the machine's name servers. */
export const publicNames =
  (servers?: ReadonlyArray<string>): NameLookup =>
  (name) =>
    Effect.suspend(() => {
      const resolver = new dns.Resolver(RESOLVER_OPTIONS)
      if (servers !== undefined) resolver.setServers(servers)
      const answers = Effect.promise(() => Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]))
      return answers.pipe(
        Effect.map((all) => all.flatMap((one) => (one.status === "fulfilled" ? one.value : []))),
        Effect.onInterrupt(() => Effect.sync(() => resolver.cancel()))
      )
    })

/** Resolves as this machine does, with its hosts file. */
export const machineNames: NameLookup = (name) =>
  Effect.promise(() =>
    dns.lookup(name, { all: true }).then(
      (all) => all.map(({ address }) => address),
      () => []
    )
  )
