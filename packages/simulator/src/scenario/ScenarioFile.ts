/**
 * The schema of a scenario file as an operator writes it (`sluice serve --scenario FILE`): supply, prices, speed and
 * faults. Every field is optional and defaults to the default world; a list replaces the whole default list.
 * `docs/scenario.schema.json` is this schema (decisions: Simulator).
 */
import { list, number, opt, text, usd, whole } from "@sluice/domain/files/FileFields"
import {
  chatFields,
  embeddingsFields,
  imagesFields,
  speechFields,
  transcriptionFields,
  videoFields
} from "@sluice/domain/models/ModelEntry"
import { Schema } from "effect"
import { WORLD_FAULTS, type WorldFault } from "../faults/Fault.ts"
import { NAME } from "@sluice/machine-shell/Programs"

const name = text(/^[\w.-]{1,64}$/, "1 to 64 letters, digits and _ . -")
const shown = text(/^[ -~]{1,64}$/, "1 to 64 characters")

const HOUR = 3_600
/** From, to. The description comes before the check: the published schema would not have it otherwise. */
const range = (end: ReturnType<typeof number>, unit: string, description: string) =>
  Schema.optionalKey(
    Schema.Tuple([end, end])
      .annotate({ description })
      .check(
        Schema.makeFilter(([from, to]: readonly [number, number]) => from <= to, {
          expected: `two numbers of ${unit}, the smaller one first`
        })
      )
  )
/** A range of seconds, drawn for each machine. */
const seconds = (description: string) => range(number(0, HOUR), "seconds", description)

export const GpuTypeEntry = Schema.Struct({
  gpu_type: name.annotate({ description: "The type that jobs ask for; unique in the file" }),
  name: opt(shown, "As `nvidia-smi` shows it; the type where left out"),
  memory_gb: whole(1, 10_000),
  memory_mib: opt(whole(1, 10_000_000), "As `nvidia-smi` shows it; 1024 for each GB where left out"),
  max_gpu_count: whole(1, 64).annotate({ description: "The most GPUs of one machine" }),
  price_per_gpu_hour: usd("Price of one GPU for an hour, USD"),
  capacity: Schema.Record(name, whole(0, 1_000_000)).annotate({ description: "GPUs by region" }),
  power_watts: opt(whole(1, 10_000), "400 where left out"),
  compute_capability: opt(text(/^\d{1,2}\.\d$/, "a version such as 9.0"), "8.0 where left out"),
  refused: opt(Schema.Boolean, "True: every launch of this type is refused, for good")
})
export type GpuTypeEntry = typeof GpuTypeEntry.Type

const ChatEntry = Schema.Struct({
  ...chatFields,
  latency: opt(
    Schema.Struct({
      first_ms: whole(0, 600_000).annotate({ description: "Milliseconds to the first word" }),
      tokens_per_second: number(0.1, 1_000_000),
      jitter: number(0, 1).annotate({ description: "The variation of each pause: 0.3 is plus or minus 30 %" })
    }),
    "180 ms, 90 tokens a second and 0.3 where left out"
  ),
  words: range(
    whole(1, 10_000),
    "words",
    "Words of an answer that no limit cuts short, from, to; 25 to 60 where left out"
  )
})

const ScenarioModelEntry = Schema.Union([
  ChatEntry,
  Schema.Struct(embeddingsFields),
  Schema.Struct(imagesFields),
  Schema.Struct(speechFields),
  Schema.Struct(transcriptionFields),
  Schema.Struct(videoFields)
])
export type ScenarioModelEntry = typeof ScenarioModelEntry.Type

const rate = number(0, 1)
const Faults = Schema.Struct(
  Object.fromEntries(WORLD_FAULTS.map((fault) => [fault, Schema.optionalKey(rate)])) as Record<
    WorldFault,
    Schema.optionalKey<typeof rate>
  >
)

const programName = text(NAME, "1 to 64 letters, digits and _ . + -, not beginning with one of the last three")

export const ScenarioFile = Schema.Struct({
  $schema: Schema.optionalKey(Schema.String),
  regions: opt(list(Schema.Struct({ id: name, name: shown }), 100), "The regions of machines and volumes"),
  gpu_types: opt(list(GpuTypeEntry, 100), "The GPU types that can be rented"),
  launch_seconds: seconds("From the launch to the machine that runs and costs money; 3 to 12 where left out"),
  set_up_seconds: seconds("From the running machine to the start of the command; 1 to 4 where left out"),
  stop_seconds: seconds("From the request to stop to the machine that is gone; 0.5 to 2 where left out"),
  programs: opt(
    Schema.Record(programName, Schema.String),
    "Bash scripts that machines have as commands of these names, such as `python`: at most 50, with 65536 characters in all"
  ),
  models: opt(
    list(ScenarioModelEntry, 1_000),
    "The models that answer. Not together with --models, whose servers answer instead"
  ),
  model_latency: opt(
    Schema.Literals(["paced", "none"]),
    "`paced`: models take their time; `none`: they answer at once. `paced` where left out"
  ),
  faults: opt(
    Faults,
    "The chance of each fault in a call that it can affect, from 0 (never, where left out) to 1 (always)"
  )
})
export type ScenarioFile = typeof ScenarioFile.Type
