/** Simulated worlds for tests, whole and in this thread. */
import type { Seal } from "@sluice/domain/database/Seal"
import { masterKey, MasterKeys } from "@sluice/server/database/MasterKey"
import { nodeSeal } from "@sluice/server/database/NodeSeal"
import { Layer } from "effect"
import * as InlineShell from "@sluice/machine-shell/InlineShell"
import type { Shell } from "@sluice/machine-shell/Shell"
import { layer } from "../../src/world/SimulatedMachines.ts"
import type { World } from "../../src/world/World.ts"

const KEY = Buffer.alloc(32, 7).toString("base64")

export const testSeal: Layer.Layer<Seal> = Layer.provide(
  nodeSeal,
  Layer.succeed(MasterKeys, [masterKey(Buffer.from(KEY, "base64"), KEY)!])
)

export const worldLayer = (world: World, shell: Layer.Layer<Shell> = InlineShell.layer) =>
  layer(world).pipe(Layer.provide(shell), Layer.provide(testSeal))
