/**
 * `sluice admin ...`: for operators, on the database itself; an embedded one while the server is stopped. What it prints
 * on standard output is data: a key, once.
 */
import type * as AdminModule from "@sluice/server/Admin"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { Variables } from "../connection/Connection.ts"
import { Stopped } from "../connection/Failure.ts"
import { Output } from "../terminal/Output.ts"
import { usd } from "../terminal/Amounts.ts"

const target = {
  data: Flag.String("data").pipe(
    Flag.optional,
    Flag.withMetavar("DIR"),
    Flag.withDescription("Data directory; default ./data")
  ),
  databaseUrl: Flag.String("database-url").pipe(
    Flag.optional,
    Flag.withMetavar("URL"),
    Flag.withDescription("PostgreSQL instead")
  )
}
const workspace = Flag.String("workspace").pipe(Flag.withMetavar("NAME"), Flag.withDescription("The workspace's name"))

interface Target {
  readonly data: Option.Option<string>
  readonly databaseUrl: Option.Option<string>
}

type Admin = typeof AdminModule

/** Flags over variables over the default, as `serve` has it. */
const on = <A, E extends { readonly message: string }>(
  { data, databaseUrl }: Target,
  act: (admin: Admin, place: Parameters<Admin["createWorkspace"]>[0]) => Effect.Effect<A, E>
) =>
  Effect.gen(function* () {
    const variables = yield* Variables
    const url = Option.getOrUndefined(databaseUrl) ?? (variables.SLUICE_DATABASE_URL || undefined)
    const directory = Option.getOrUndefined(data) ?? (variables.SLUICE_DATA || "./data")
    const admin = yield* Effect.promise(() => import("@sluice/server/Admin"))
    return yield* act(admin, { data: directory, databaseUrl: url === undefined ? undefined : Redacted.make(url) }).pipe(
      Effect.mapError(({ message }) => new Stopped({ reason: message }))
    )
  })

const createWorkspace = Command.make(
  "create",
  { ...target, name: Argument.String("name").pipe(Argument.withDescription("1 to 63 characters")) },
  Effect.fnUntraced(function* (flags) {
    const made = yield* on(flags, (admin, place) => admin.createWorkspace(place, flags.name))
    const out = yield* Output
    yield* out.answer(made, ({ id }) => id)
    yield* out.say(`Workspace ${made.name} is made. A key for it: sluice admin key create --workspace ${made.name}`)
  })
).pipe(Command.withDescription("Create a workspace; prints its id"))

const createKey = Command.make(
  "create",
  {
    ...target,
    workspace,
    name: Flag.String("name").pipe(
      Flag.withDefault("operator"),
      Flag.withMetavar("NAME"),
      Flag.withDescription("Name of the key")
    )
  },
  Effect.fnUntraced(function* (flags) {
    const made = yield* on(flags, (admin, place) => admin.createKey(place, flags.workspace, flags.name))
    const out = yield* Output
    yield* out.answer({ ...made, key: Redacted.value(made.key) }, ({ key }) => key)
    yield* out.say("The key is shown this once. To use it: export SLUICE_API_KEY=...")
  })
).pipe(Command.withDescription("Create an API key with all scopes; prints it, this once"))

const credit = Command.make(
  "credit",
  {
    ...target,
    workspace,
    usd: Flag.String("usd").pipe(Flag.withMetavar("N"), Flag.withDescription("Amount, like 50 or 12.5")),
    reference: Flag.String("reference").pipe(
      Flag.optional,
      Flag.withMetavar("TEXT"),
      Flag.withDescription("The same reference again credits nothing more; with another amount it is refused")
    )
  },
  Effect.fnUntraced(function* (flags) {
    const reference = Option.getOrUndefined(flags.reference)
    const balance = yield* on(flags, (admin, place) => admin.credit(place, flags.workspace, flags.usd, reference))
    const out = yield* Output
    yield* out.answer(balance, ({ balance_usd }) => `${flags.workspace}: balance ${usd(balance_usd)}`)
    if (balance.already_credited) yield* out.say(`${reference} was already credited: nothing was added.`)
  })
).pipe(Command.withDescription("Give a workspace credit; prints its balance"))

export const adminCommand = Command.make("admin").pipe(
  Command.withDescription("For operators, on the database (an embedded one while the server is stopped)"),
  Command.withSubcommands([
    Command.make("workspace").pipe(Command.withDescription("Workspaces"), Command.withSubcommands([createWorkspace])),
    Command.make("key").pipe(Command.withDescription("API keys"), Command.withSubcommands([createKey])),
    credit
  ]),
  Command.withExamples([
    { command: "sluice admin workspace create team-a" },
    { command: "sluice admin key create --workspace team-a --name ci" },
    { command: "sluice admin credit --workspace team-a --usd 50 --reference invoice-17" }
  ])
)
