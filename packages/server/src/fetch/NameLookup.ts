/**
 * Which addresses has a name? None: it has none, or nobody knew in time. Names that callers give are asked of DNS alone, by a
 * resolver that can be hung up on: the machine's own way takes a thread for as long as a foreign name server pleases, and all
 * other work waits for that thread. Where private targets are allowed, the machine's own names (`localhost`, a hosts file) count too.
 */
import { Effect } from "effect"
import { promises as dns } from "node:dns"

export type NameLookup = (name: string) => Effect.Effect<ReadonlyArray<string>>

/** Real milliseconds of one question to a name server, and how often it is asked. */
const ASKED = { timeout: 2_000, tries: 2 }

/** What DNS says; `servers` (`address:port`): others than the machine's. */
export const publicNames =
  (servers?: ReadonlyArray<string>): NameLookup =>
  (name) =>
    Effect.suspend(() => {
      const resolver = new dns.Resolver(ASKED)
      if (servers !== undefined) resolver.setServers(servers)
      const answers = Effect.promise(() => Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]))
      return answers.pipe(
        Effect.map((all) => all.flatMap((one) => (one.status === "fulfilled" ? one.value : []))),
        Effect.onInterrupt(() => Effect.sync(() => resolver.cancel()))
      )
    })

/** What this machine takes a name for. */
export const machineNames: NameLookup = (name) =>
  Effect.promise(() =>
    dns.lookup(name, { all: true }).then(
      (all) => all.map(({ address }) => address),
      () => []
    )
  )
