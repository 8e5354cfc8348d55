/** The machines of a workspace, for `GET /instances`; the machine of a job is one of them (decisions: Instances). */
import { Context, Effect, Layer } from "effect"
import type { Principal } from "../access/Principal.ts"
import type { Page, PageRequest } from "../database/Page.ts"
import { type Machine, MachineNotFound } from "./Machine.ts"
import { MachineListStore } from "./MachineListStore.ts"

export class Machines extends Context.Service<
  Machines,
  {
    readonly list: (principal: Principal, page: PageRequest) => Effect.Effect<Page<Machine>>
    readonly get: (principal: Principal, id: string) => Effect.Effect<Machine, MachineNotFound>
  }
>()("@sluice/domain/machines/Machines") {
  static readonly layer = Layer.effect(
    Machines,
    Effect.gen(function* () {
      const store = yield* MachineListStore
      const get = Effect.fn("Machines.get")(function* (principal: Principal, id: string) {
        const machine = yield* store.find(principal, id)
        return machine ?? (yield* new MachineNotFound({ id }))
      })
      return Machines.of({ list: store.list, get })
    })
  )
}
