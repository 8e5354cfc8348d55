/** The simulated world with faults before it, alone or under the whole control plane in virtual time. */
import { NodeServices } from "@effect/platform-node"
import * as ControlPlane from "@sluice/domain/ControlPlane"
import { Replica } from "@sluice/domain/database/Replica"
import {
  MachineProvider,
  type MachineProviderService,
  ProviderUnavailable
} from "@sluice/domain/machines/MachineProvider"
import { masterKey, MasterKeys } from "@sluice/server/database/MasterKey"
import { nodeSeal } from "@sluice/server/database/NodeSeal"
import * as InlineShell from "@sluice/machine-shell/InlineShell"
import { Shell } from "@sluice/machine-shell/Shell"
import * as SimulatedMachines from "@sluice/simulator/world/SimulatedMachines"
import { instantWorld, type World } from "@sluice/simulator/world/World"
import { migrateWorld } from "@sluice/simulator/world/WorldMigrations"
import { Effect, Layer } from "effect"
import { type FaultRanges, FaultyWorld } from "@sluice/simulator/faults/FaultyWorld"
import { faultyMachines } from "@sluice/simulator/faults/FaultyMachines"
import type { FaultDraw } from "@sluice/simulator/faults/FaultDraw"

const KEY = Buffer.alloc(32, 7).toString("base64")
const seal = nodeSeal.pipe(Layer.provide(Layer.succeed(MasterKeys, [masterKey(Buffer.from(KEY, "base64"), KEY)!])))

/** Room for everything; machines take their time. */
export const roomyWorld: World = {
  ...instantWorld,
  launchMs: [3_000, 12_000],
  setUpMs: [1_000, 4_000],
  stopMs: [500, 2_000]
}

export interface Faulted {
  readonly faultDraw: FaultDraw
  readonly ranges?: Partial<FaultRanges>
  readonly world?: FaultyWorld
  readonly shell?: (inner: Shell["Service"]) => Shell["Service"]
  /** The provider without faults, once it is there: the truth. */
  readonly truth?: (inner: MachineProviderService) => void
  /** The first launch is not heard, and answered by an error. */
  readonly deaf?: boolean
}

const deafAtFirst = (provider: MachineProviderService): MachineProviderService => {
  let heard = false
  return {
    ...provider,
    launch: (spec) =>
      Effect.suspend(() => {
        if (heard) return provider.launch(spec)
        heard = true
        return Effect.fail(new ProviderUnavailable({ cause: "not heard" }))
      })
  }
}

const shellOf = ({ shell }: Faulted) =>
  shell === undefined
    ? InlineShell.layer
    : Layer.effect(Shell, Effect.map(Shell, shell)).pipe(Layer.provide(InlineShell.layer))

export const faultyWorld = (faulted: Faulted) =>
  Layer.effect(
    MachineProvider,
    Effect.map(MachineProvider, (inner) => {
      faulted.truth?.(inner)
      const { faultDraw, ranges } = faulted
      const world = faulted.world ?? new FaultyWorld()
      const faulty = faultyMachines(inner, faultDraw, ranges === undefined ? { world } : { world, ranges })
      return faulted.deaf === true ? deafAtFirst(faulty) : faulty
    })
  ).pipe(Layer.provide(SimulatedMachines.layer(roomyWorld)), Layer.provide(shellOf(faulted)), Layer.provide(seal))

/** The control plane over it. */
export const faultyFleet = (faulted: Faulted) =>
  ControlPlane.layer.pipe(
    Layer.provideMerge(faultyWorld(faulted)),
    Layer.provideMerge(Layer.effectDiscard(migrateWorld)),
    Layer.provideMerge(seal),
    Layer.provideMerge(Replica.layer({ speed: 1 })),
    Layer.provideMerge(NodeServices.layer)
  )
