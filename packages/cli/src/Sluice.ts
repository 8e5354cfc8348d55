/** Defines the `sluice` command: its subcommands and the flags that all of them take. */
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as GlobalFlag from "effect/cli/GlobalFlag"
import { adminCommand } from "./admin/AdminCommand.ts"
import { balanceCommand } from "./billing/BalanceCommand.ts"
import { usageCommand } from "./billing/UsageCommand.ts"
import { chatCommand, modelsCommand } from "./chat/ChatCommand.ts"
import { connectionFlags } from "./connection/Connection.ts"
import { jobsCommand } from "./jobs/JobsCommand.ts"
import { gpusCommand } from "./machines/GpusCommand.ts"
import { serveCommand } from "./serve/ServeCommand.ts"

/** Declared here for the parser and the help text only; `Facts` reads the flag earlier, before the parser runs. */
const Json = GlobalFlag.Setting("json")({
  flag: Flag.Boolean("json").pipe(
    Flag.withDefault(false),
    Flag.withDescription("JSON on standard output, errors as JSON on standard error, no other messages")
  )
})

export const sluice = Command.make("sluice").pipe(
  Command.withDescription(
    "An open GPU cloud: jobs on fresh GPU machines and models behind one API.\n" +
      "  SLUICE_API_KEY holds your key. SLUICE_INFRA_URL and SLUICE_BASE_URL are the server's addresses;\n  the default is http://127.0.0.1:8080."
  ),
  Command.withSubcommands([
    serveCommand,
    jobsCommand,
    gpusCommand,
    chatCommand,
    modelsCommand,
    balanceCommand,
    usageCommand,
    adminCommand
  ]),
  Command.withExamples([
    { command: "sluice serve" },
    { command: "sluice jobs run --gpu H100 --timeout 30m -- nvidia-smi" },
    { command: 'sluice chat "Hello!"' }
  ]),
  Command.withGlobalFlags([Json, ...connectionFlags])
)
