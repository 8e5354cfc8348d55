/**
 * Defines `sluice jobs ...`: the commands and their flags. The code of a command loads when the command runs, so that
 * help is quick.
 */
import { JobStatusWire } from "@sluice/api/jobs/JobWire"
import * as Effect from "effect/Effect"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { jobFlags } from "./JobFlags.ts"

const flag = (name: string, description: string, alias?: string) => {
  const plain = Flag.Boolean(name).pipe(Flag.withDefault(false), Flag.withDescription(description))
  return alias === undefined ? plain : Flag.withAlias(plain, alias)
}
const manageModule = Effect.promise(() => import("./Manage.ts"))
const id = Argument.String("id").pipe(Argument.withDescription("The job's id"))

const run = Command.make(
  "run",
  {
    ...jobFlags,
    detach: flag("detach", "Print the job's id and exit; the job continues", "d"),
    dryRun: flag("dry-run", "Print the price and the maximum cost; create nothing"),
    yes: flag("yes", "Do not ask for confirmation", "y")
  },
  (flags) =>
    Effect.flatMap(
      Effect.promise(() => import("./Run.ts")),
      (jobs) => jobs.run(flags)
    )
).pipe(
  Command.withShortDescription("Run a command on a fresh GPU machine"),
  Command.withDescription(
    "Run a command on a fresh GPU machine and follow it. Ctrl-C detaches; twice within 2 s cancels the job.\n" +
      "  Exits with the command's exit code; 124 timed out, 130 detached or cancelled, 75 try again later,\n" +
      "  77 no valid key, 2 wrong usage, 1 anything else."
  ),
  Command.withExamples([
    { command: "sluice jobs run --gpu H100 --timeout 30m -- nvidia-smi" },
    { command: "sluice jobs run --gpu H100 --gpus 2 --volume data -e EPOCHS=3 -- 'cd /workspace && python train.py'" },
    { command: "sluice jobs run --gpu A100 --max-cost 5 -d -y --json -- ./train.sh | jq -r .id" }
  ])
)

const list = Command.make(
  "list",
  {
    status: Flag.Literals("status", JobStatusWire.literals).pipe(
      Flag.optional,
      Flag.withDescription("Only jobs of this status")
    ),
    name: Flag.String("name").pipe(Flag.optional, Flag.withDescription("Only jobs of this name")),
    label: Flag.String("label").pipe(
      Flag.optional,
      Flag.withMetavar("K=V"),
      Flag.withDescription("Only jobs with this label")
    ),
    limit: Flag.Int("limit").pipe(
      Flag.withDefault(20),
      Flag.withMetavar("N"),
      Flag.withDescription("Maximum number of jobs; default 20")
    ),
    all: flag("all", "List all jobs")
  },
  (flags) => Effect.flatMap(manageModule, (jobs) => jobs.list(flags))
).pipe(
  Command.withDescription("List jobs, newest first"),
  Command.withExamples([
    { command: "sluice jobs list --status running" },
    { command: "sluice jobs list --label run=7 --json" }
  ])
)

const show = Command.make("show", { id }, (flags) => Effect.flatMap(manageModule, (jobs) => jobs.show(flags))).pipe(
  Command.withDescription("Show a job")
)

const logs = Command.make(
  "logs",
  {
    id,
    follow: flag("follow", "Follow the log until the job ends", "f"),
    tail: Flag.Int("tail").pipe(Flag.optional, Flag.withMetavar("N"), Flag.withDescription("Only the last N lines")),
    offset: Flag.Int("offset").pipe(Flag.optional, Flag.withMetavar("N"), Flag.withDescription("Start at byte N"))
  },
  (flags) => Effect.flatMap(manageModule, (jobs) => jobs.logs(flags))
).pipe(
  Command.withDescription("Print a job's output, byte for byte"),
  Command.withExamples([{ command: "sluice jobs logs -f --tail 100 ID" }])
)

const cancel = Command.make(
  "cancel",
  { id, noWait: flag("no-wait", "Do not wait until the machine is stopped") },
  (flags) => Effect.flatMap(manageModule, (jobs) => jobs.cancel(flags))
).pipe(Command.withDescription("Cancel a job and wait until its machine is stopped"))

const quote = Command.make("quote", jobFlags, (flags) =>
  Effect.flatMap(manageModule, (jobs) => jobs.quote(flags))
).pipe(
  Command.withDescription("Print what a job would cost; creates nothing"),
  Command.withExamples([{ command: "sluice jobs quote --gpu H100 --timeout 2h -- ./train.sh" }])
)

export const jobsCommand = Command.make("jobs").pipe(
  Command.withDescription("Run commands on GPU machines"),
  Command.withSubcommands([run, list, show, logs, cancel, quote])
)
