/** Defines the commands `sluice chat` and `sluice models` with their flags. Their code loads when one of them runs. */
import * as Effect from "effect/Effect"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"

export const chatCommand = Command.make(
  "chat",
  {
    prompt: Argument.String("prompt").pipe(
      Argument.variadic(),
      Argument.withDescription("The question; - reads it from standard input")
    ),
    model: Flag.String("model").pipe(
      Flag.withAlias("m"),
      Flag.optional,
      Flag.withDescription("Model, as `sluice models` lists them; default the first one")
    ),
    system: Flag.String("system").pipe(Flag.optional, Flag.withMetavar("TEXT"), Flag.withDescription("System message")),
    maxTokens: Flag.Int("max-tokens").pipe(
      Flag.optional,
      Flag.withMetavar("N"),
      Flag.withDescription("Maximum length of the answer in tokens")
    ),
    temperature: Flag.Finite("temperature").pipe(
      Flag.optional,
      Flag.withMetavar("0..2"),
      Flag.withDescription("Sampling temperature; higher is more random")
    ),
    noNewline: Flag.Boolean("no-newline").pipe(
      Flag.withAlias("n"),
      Flag.withDefault(false),
      Flag.withDescription("No line end after the answer")
    )
  },
  (flags) =>
    Effect.flatMap(
      Effect.promise(() => import("./ChatAction.ts")),
      ({ chat }) => chat(flags)
    )
).pipe(
  Command.withDescription("Ask a model; the answer streams to standard output"),
  Command.withExamples([
    { command: 'sluice chat "Why is the sky blue?"' },
    { command: 'git diff | sluice chat --system "Write a commit message" -m sluice-large' }
  ])
)

export const modelsCommand = Command.make("models", {}, () =>
  Effect.flatMap(
    Effect.promise(() => import("./Models.ts")),
    ({ models }) => models
  )
).pipe(Command.withDescription("List the models"))
