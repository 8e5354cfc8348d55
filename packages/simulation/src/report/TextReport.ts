/** A run for people at a terminal; a failed one with all that is needed to see it again. */
import type { Outcome, Smaller } from "./Outcome.ts"
import { summaryOf } from "./Summary.ts"

const EVENTS = 25

/** `again`: the command that runs it again, where there is one. */
export const textReport = (outcome: Outcome, again?: string): string => {
  const summary = summaryOf(outcome)
  const money = outcome.money.at(-1)
  const lines = [
    `seed ${outcome.scenario.seed}: ${durationText(outcome.virtualMs)} in ${(outcome.wallMs / 1_000).toFixed(1)} s, ${count(Math.round(summary.speed))} times as fast`,
    "",
    ...table("jobs", [["all", outcome.jobs.length], ...summary.jobsByEnd]),
    ...(summary.refused.length === 0 ? [] : table("refused", summary.refused)),
    ...table("requests", summary.requests),
    ...(summary.failures.length === 0 ? [] : table("failed", summary.failures)),
    ...(outcome.followed === 0 ? [] : [row("logs", `${count(outcome.followed)} followed to their end`)]),
    row(
      "machines",
      `${count(summary.machines)} ran ${hours(summary.machineHours)}, ${hours(summary.gpuHours)} of GPUs`
    ),
    row(
      "cost",
      `${usd(summary.costUsd)} of jobs${money === undefined ? "" : `, ${usd(money.revenueUsd)} earned in all`}`
    ),
    row(
      "queue wait",
      summary.waits === null
        ? "no job started"
        : `median ${durationText(summary.waits.p50)}, 95 % ${durationText(summary.waits.p95)}, longest ${durationText(summary.waits.max)}`
    ),
    ...table("faults", [["all", summary.faultCount], ...summary.faults]),
    row(
      "server",
      `${count(outcome.boots)} starts, ${count(outcome.statements)} statements, ${count(outcome.steps)} steps`
    ),
    row(
      "invariants",
      `${outcome.invariants.length}, checked ${count(outcome.checks)} times: ${outcome.violation === null ? "none broke" : "ONE BROKE"}`
    ),
    row("history", outcome.history),
    ...(outcome.violation === null ? [] : ["", failureText(outcome, again)])
  ]
  return lines.join("\n")
}

export const failureText = (outcome: Outcome, again?: string): string => {
  const { at, found, invariant, step } = outcome.violation!
  return [
    `BROKEN: ${invariant}`,
    ...found.slice(0, 10).map((one) => `  ${one}`),
    `  after ${durationText(at)}, step ${count(step)}, seed ${outcome.scenario.seed}`,
    "",
    "what came before:",
    ...outcome.lastEvents.slice(-EVENTS).map((event) => `  ${event}`),
    ...(again === undefined ? [] : ["", "to see it again:", `  ${again}`])
  ].join("\n")
}

export const smallerText = ({ command, faults, file, items, problem, runs, scenario }: Smaller): string => {
  const [some, times] = [`${items} ${items === 1 ? "item" : "items"}`, `${runs} ${runs === 1 ? "run" : "runs"}`]
  return [
    "",
    `the same breaks with ${some} of the plan and ${faults.length === 0 ? "no fault" : faults.join(", ")} (found in ${times}):`,
    ...(problem === null
      ? [`  ${command}`]
      : [`  ${file} can't be written (${problem}); it would hold`, `  ${JSON.stringify(scenario)}`])
  ].join("\n")
}

const WIDTH = 12
const row = (title: string, text: string) => `${title.padEnd(WIDTH)}${text}`

/** Counts by name, several on a line. */
const table = (title: string, cells: ReadonlyArray<readonly [string, number]>): ReadonlyArray<string> => {
  const lines: Array<string> = []
  let line = ""
  for (const [name, amount] of cells) {
    const cell = `${count(amount)} ${name}`
    if (line !== "" && line.length + cell.length > 84) {
      lines.push(line)
      line = ""
    }
    line += line === "" ? cell : `, ${cell}`
  }
  return [...lines, line].map((text, i) => row(i === 0 ? title : "", text))
}

const count = (value: number): string => value.toLocaleString("en-US")
const usd = (value: number): string => `$${value.toFixed(2)}`
const hours = (value: number): string => `${value.toFixed(1)} h`

/** `3d 4h`, `12m 5s`, `0.4s`. */
export const durationText = (ms: number): string => {
  const seconds = ms / 1_000
  if (seconds < 60) return `${seconds.toFixed(1)}s`
  const parts: ReadonlyArray<readonly [number, string]> = [
    [Math.floor(seconds / 86_400), "d"],
    [Math.floor((seconds / 3_600) % 24), "h"],
    [Math.floor((seconds / 60) % 60), "m"],
    [Math.floor(seconds % 60), "s"]
  ]
  const first = parts.findIndex(([value]) => value > 0)
  return parts
    .slice(first, first + 2)
    .filter(([value], i) => i === 0 || value > 0)
    .map(([value, unit]) => `${value}${unit}`)
    .join(" ")
}
