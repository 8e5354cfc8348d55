/** The routes of machines and of GPU types. */
import { InfraApi } from "@sluice/api/InfraApi"
import { gpuTypeToWire, instanceToWire } from "@sluice/api/instances/InstanceWire"
import { Jobs } from "@sluice/domain/jobs/Jobs"
import { MachineNotFound } from "@sluice/domain/machines/Machine"
import { MachineProvider } from "@sluice/domain/machines/MachineProvider"
import { Machines } from "@sluice/domain/machines/Machines"
import { Effect } from "effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import { dataOf, one, page, shortPage } from "../http/Answer.ts"

const missing = (id: string) => new MachineNotFound({ id })

export const instancesHandlers = HttpApiBuilder.group(InfraApi, "instances", (handlers) =>
  Effect.gen(function* () {
    const machines = yield* Machines
    const jobs = yield* Jobs
    const provider = yield* MachineProvider
    return handlers
      .handle("list", page(machines.list, instanceToWire))
      .handle("types", shortPage(provider.gpuTypes, gpuTypeToWire))
      .handle("get", one(missing, machines.get, dataOf(instanceToWire)))
      .handle("stop", one(missing, jobs.stopMachine, dataOf(instanceToWire)))
  })
)
