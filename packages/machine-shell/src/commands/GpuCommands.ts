/** `nvidia-smi` for the GPUs of this machine: the table, `-L`, and `--query-gpu` as scripts use them. */
import { defineCommand } from "just-bash"
import type { Command } from "just-bash"
import { hash32 } from "../Chance.ts"
import { fail, ok } from "../core/ShellSession.ts"
import type { ShellSession } from "../core/ShellSession.ts"

const DRIVER = "570.86.15"
const CUDA = "12.8"

export const gpuCommands = (session: ShellSession): ReadonlyArray<Command> => [
  defineCommand("nvidia-smi", async (args) => {
    const query = args.find((arg) => arg.startsWith("--query-gpu="))
    if (args.includes("-L") || args.includes("--list-gpus")) {
      return ok(
        indexes(session)
          .map((i) => `GPU ${i}: ${session.run.gpu.name} (UUID: ${uuidOf(session, i)})\n`)
          .join("")
      )
    }
    if (query !== undefined) return queryGpus(session, query.slice("--query-gpu=".length), args)
    const unknown = args.find((arg) => arg.startsWith("-"))
    return unknown === undefined
      ? ok(formatTable(session))
      : fail(`Invalid combination of input arguments: ${unknown} is not simulated.`, 2)
  })
]

const indexes = (session: ShellSession): ReadonlyArray<number> =>
  Array.from({ length: session.run.gpu.count }, (_, i) => i)

const uuidOf = (session: ShellSession, index: number): string => {
  const hex = [0, 1, 2, 3]
    .map((part) => hash32(session.run.seed, `gpu:${index}:${part}`).toString(16).padStart(8, "0"))
    .join("")
  return `GPU-${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

const temperatureOf = (session: ShellSession, index: number): number =>
  30 + (hash32(session.run.seed, `temperature:${index}`) % 12)
const idleWatts = (session: ShellSession): number => Math.round(session.run.gpu.powerWatts / 10)
const busOf = (index: number): string => `00000000:${(16 + index).toString(16).toUpperCase()}:00.0`

/** Returns a value and its unit, by a name of `nvidia-smi --help-query-gpu`; undefined for any other name. */
const fieldOf = (session: ShellSession, index: number, name: string): readonly [string, string] | undefined => {
  const { gpu } = session.run
  switch (name) {
    case "index":
      return [String(index), ""]
    case "count":
      return [String(gpu.count), ""]
    case "name":
    case "gpu_name":
      return [gpu.name, ""]
    case "uuid":
    case "gpu_uuid":
      return [uuidOf(session, index), ""]
    case "driver_version":
      return [DRIVER, ""]
    case "compute_cap":
      return [gpu.computeCapability, ""]
    case "pci.bus_id":
      return [busOf(index), ""]
    case "pstate":
      return ["P0", ""]
    case "timestamp":
      return [new Date(session.clock.now).toISOString().replace("T", " ").replace("Z", "").replaceAll("-", "/"), ""]
    case "memory.total":
      return [String(gpu.memoryMib), " MiB"]
    case "memory.free":
      return [String(gpu.memoryMib - 1), " MiB"]
    case "memory.used":
      return ["1", " MiB"]
    case "utilization.gpu":
    case "utilization.memory":
      return ["0", " %"]
    case "temperature.gpu":
      return [String(temperatureOf(session, index)), ""]
    case "power.draw":
      return [idleWatts(session).toFixed(2), " W"]
    case "power.limit":
      return [gpu.powerWatts.toFixed(2), " W"]
    default:
      return undefined
  }
}

const queryGpus = (session: ShellSession, query: string, args: ReadonlyArray<string>) => {
  const format =
    args
      .find((arg) => arg.startsWith("--format="))
      ?.slice("--format=".length)
      .split(",") ?? []
  if (!format.includes("csv")) return fail(`"--format=" was not specified: only csv is supported`, 2)
  const names = query.split(",").map((name) => name.trim())
  const bad = names.find((name) => fieldOf(session, 0, name) === undefined)
  if (bad !== undefined) return fail(`Field "${bad}" is not a valid field to query.`, 2)
  const hasUnits = !format.includes("nounits")
  const wanted =
    args.find((arg) => arg.startsWith("--id="))?.slice(5) ??
    (args.includes("-i") ? args[args.indexOf("-i") + 1] : undefined)
  const chosen = indexes(session).filter((i) => wanted === undefined || wanted.split(",").includes(String(i)))
  const rows = chosen.map((i) =>
    names
      .map((name) => {
        const [value, unit] = fieldOf(session, i, name)!
        return hasUnits ? value + unit : value
      })
      .join(", ")
  )
  const head = names.map((name) => {
    const unit = fieldOf(session, 0, name)![1].trim()
    return hasUnits && unit !== "" ? `${name} [${unit}]` : name
  })
  return ok([...(format.includes("noheader") ? [] : [head.join(", ")]), ...rows].map((row) => `${row}\n`).join(""))
}

const formatTable = (session: ShellSession): string => {
  const { gpu } = session.run
  const rule = `+-----------------------------------------+------------------------+----------------------+`
  const cells = (left: string, middle: string, right: string) =>
    `| ${left.padEnd(40)}| ${middle.padStart(22)} | ${right.padStart(20)} |`
  const rows = indexes(session).flatMap((i) => {
    const power = `${idleWatts(session)}W / ${gpu.powerWatts}W`
    return [
      cells(`${String(i).padStart(3)}  ${gpu.name.slice(0, 26).padEnd(27)} On`, `${busOf(i)} Off`, "0"),
      cells(
        `N/A  ${temperatureOf(session, i)}C    P0   ${power.padStart(20)}`,
        `1MiB / ${gpu.memoryMib}MiB`,
        "0%      Default"
      ),
      rule
    ]
  })
  const wide = (text: string) => `| ${text.padEnd(87)} |`
  const line = `+${"-".repeat(89)}+`
  return [
    new Date(session.clock.now).toUTCString(),
    line,
    wide(`NVIDIA-SMI ${DRIVER}    Driver Version: ${DRIVER}    CUDA Version: ${CUDA}    (simulated)`),
    rule,
    `| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |`,
    `| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |`,
    `|=========================================+========================+======================|`,
    ...rows,
    "",
    line,
    wide("Processes:"),
    wide("  No running processes found"),
    line,
    ""
  ].join("\n")
}
