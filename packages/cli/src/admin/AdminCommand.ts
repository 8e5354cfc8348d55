/**
 * Defines `sluice admin ...`, for operators. The commands work on the database itself; an embedded database only while
 * its server is stopped. Standard output carries data alone, such as an API key, which is printed once.
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
    Flag.withDescription("PostgreSQL database instead of the data directory")
  )
}
const workspace = Flag.String("workspace").pipe(Flag.withMetavar("NAME"), Flag.withDescription("The workspace's name"))

interface Target {
  readonly data: Option.Option<string>
  readonly databaseUrl: Option.Option<string>
}

type Admin = typeof AdminModule

/** Runs `act` on the database that the flags name, else the `SLUICE_*` variables, else the default, as `serve` does. */
const withAdmin = <A, E extends { readonly message: string }>(
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
    const created = yield* withAdmin(flags, (admin, place) => admin.createWorkspace(place, flags.name))
    const out = yield* Output
    yield* out.answer(created, ({ id }) => id)
    yield* out.say(
      `Workspace ${created.name} is created. To create its API key: sluice admin key create --workspace ${created.name}`
    )
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
    const created = yield* withAdmin(flags, (admin, place) => admin.createKey(place, flags.workspace, flags.name))
    const out = yield* Output
    yield* out.answer({ ...created, key: Redacted.value(created.key) }, ({ key }) => key)
    yield* out.say("The key is shown only once. To use it: export SLUICE_API_KEY=...")
  })
).pipe(Command.withDescription("Create an API key with all scopes; prints it once"))

const credit = Command.make(
  "credit",
  {
    ...target,
    workspace,
    usd: Flag.String("usd").pipe(Flag.withMetavar("N"), Flag.withDescription("Amount, like 50 or 12.5")),
    reference: Flag.String("reference").pipe(
      Flag.optional,
      Flag.withMetavar("TEXT"),
      Flag.withDescription("Credits once per reference; another amount for a used reference is refused")
    )
  },
  Effect.fnUntraced(function* (flags) {
    const reference = Option.getOrUndefined(flags.reference)
    const balance = yield* withAdmin(flags, (admin, place) =>
      admin.credit(place, flags.workspace, flags.usd, reference)
    )
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
