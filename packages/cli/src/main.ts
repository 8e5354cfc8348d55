/**
 * Starts `sluice`: passes arguments, variables, terminal and signals of the process to the program, and exits with its
 * exit code.
 */
import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as NodeStdio from "@effect/platform-node/NodeStdio"
import * as NodeTerminal from "@effect/platform-node/NodeTerminal"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as ChildProcessSpawner from "effect/process/ChildProcessSpawner"
import * as Runtime from "effect/Runtime"
import { Variables } from "./connection/Connection.ts"
import { EXIT } from "./connection/Failure.ts"
import { program } from "./Program.ts"
import { factsOf } from "./terminal/Facts.ts"
import { Interrupts, makeInterrupts, type Signal } from "./terminal/Interrupts.ts"
import { Output } from "./terminal/Output.ts"

const args = process.argv.slice(2)
const facts = factsOf({
  args,
  variables: process.env,
  isStdinTerminal: process.stdin.isTTY === true,
  isStdoutTerminal: process.stdout.isTTY === true,
  isStderrTerminal: process.stderr.isTTY === true,
  columns: process.stderr.columns
})
const interrupts = makeInterrupts(
  () => performance.now(),
  (ms) => {
    const late = () => {
      process.stderr.write("sluice: the server did not stop in time; the process ends without waiting for it\n")
      process.exit(EXIT.failed)
    }
    setTimeout(late, ms).unref()
  }
)

const services = Layer.mergeAll(
  FetchHttpClient.layer,
  NodeCrypto.layer,
  NodeFileSystem.layer,
  NodePath.layer,
  NodeStdio.layer,
  NodeTerminal.layer,
  // The command library requires this service; the command line starts no process.
  Layer.succeed(
    ChildProcessSpawner.ChildProcessSpawner,
    ChildProcessSpawner.make(() => Effect.die("no processes"))
  ),
  Layer.succeed(Variables, process.env),
  Layer.succeed(Interrupts, interrupts.service),
  Output.layer(facts, { out: process.stdout, err: process.stderr })
)

/** Exit code after EPIPE: the reader of a pipe (`| head`) has closed its end, which is not an error to report. */
const SIGPIPE = 141
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(SIGPIPE)
    if (stream === process.stdout) process.stderr.write(`sluice: the output can't be written: ${error.message}\n`)
    process.exit(EXIT.failed)
  })
}

const codes: { readonly [S in Signal]: number } = { SIGINT: EXIT.detached, SIGTERM: 143, SIGHUP: 129 }

const runMain = Runtime.makeRunMain(({ fiber, teardown }) => {
  let code: number | undefined
  const end = (signal: Signal) => {
    code = codes[signal]
    fiber.interruptUnsafe(fiber.id)
  }
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.on(signal, () => interrupts.onSignal(signal, end))
  fiber.addObserver((exit) => {
    teardown(exit, (given) => {
      const exitNow = () => process.exit(code ?? given)
      // Flush standard output before the process exits; if the flush fails, the `error` listener exits.
      if (process.stdout.writableLength === 0) exitNow()
      else process.stdout.write("", (error) => void (error ?? exitNow()))
    })
  })
})

runMain(program(args, facts).pipe(Effect.provide(services)), {
  disableErrorReporting: true,
  teardown: (exit, onExit) => onExit(Exit.isSuccess(exit) && typeof exit.value === "number" ? exit.value : EXIT.failed)
})
