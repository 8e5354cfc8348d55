/** Defines the flags that describe a job, for `jobs run` and `jobs quote`. */
import type * as Command from "effect/cli/Command"
import * as Argument from "effect/cli/Argument"
import * as Flag from "effect/cli/Flag"

const optional = (name: string, metavar: string, description: string) =>
  Flag.String(name).pipe(Flag.optional, Flag.withMetavar(metavar), Flag.withDescription(description))

export const jobFlags = {
  gpu: Flag.String("gpu").pipe(Flag.withMetavar("TYPE"), Flag.withDescription("GPU type, as `sluice gpus` lists them")),
  gpus: Flag.Int("gpus").pipe(
    Flag.withDefault(1),
    Flag.withMetavar("N"),
    Flag.withDescription("Number of GPUs; default 1")
  ),
  timeout: Flag.String("timeout").pipe(
    Flag.withDefault("1h"),
    Flag.withMetavar("TIME"),
    Flag.withDescription("Maximum run time, like 30m or 1h30m; default 1h")
  ),
  image: optional("image", "IMAGE", "Container image to run in"),
  template: optional("template", "ID", "OS template; default ubuntu-devbox"),
  region: optional("region", "ID", "Preferred region"),
  volume: optional("volume", "ID|NAME", "Volume to mount at /workspace"),
  env: Flag.String("env").pipe(
    Flag.withAlias("e"),
    Flag.atLeast(0),
    Flag.withMetavar("K=V"),
    Flag.withDescription("Variable for the command; K alone takes the value of your own variable")
  ),
  envFile: Flag.String("env-file").pipe(
    Flag.atLeast(0),
    Flag.withMetavar("FILE"),
    Flag.withDescription("File of K=V lines")
  ),
  name: optional("name", "NAME", "Name of the job"),
  description: optional("description", "TEXT", "What the job is for, in one line"),
  label: Flag.String("label").pipe(
    Flag.atLeast(0),
    Flag.withMetavar("K=V"),
    Flag.withDescription("Label of the job; jobs list --label finds it")
  ),
  maxCost: Flag.Finite("max-cost").pipe(
    Flag.optional,
    Flag.withMetavar("USD"),
    Flag.withDescription("Stop the job when its cost reaches this")
  ),
  capacityWait: optional("capacity-wait", "TIME", "Maximum wait for a free machine; default 30m"),
  command: Argument.String("command").pipe(
    Argument.variadic(),
    Argument.withDescription("After --. One word is a shell script; several words are a command with its arguments")
  )
}

export type JobFlags = Command.Command.Config.Infer<typeof jobFlags>
