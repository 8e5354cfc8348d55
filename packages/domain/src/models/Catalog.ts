/** The models of one kind and who answers for them, and what a caller may choose of a model. */
import { Effect } from "effect"
import { ModelNotFound, ModelRequestInvalid } from "./InferenceErrors.ts"

interface Provider {
  readonly models: ReadonlyArray<{ readonly id: string }>
}
type ModelOf<P extends Provider> = P["models"][number]

export interface Catalog<P extends Provider> {
  readonly models: ReadonlyArray<ModelOf<P>>
  readonly find: (id: string) => Effect.Effect<{ readonly model: ModelOf<P>; readonly provider: P }, ModelNotFound>
}

/** `provider`: undefined where this world has none of the kind. */
export const catalogOf = <P extends Provider>(provider: P | undefined): Catalog<P> => {
  const models: ReadonlyArray<ModelOf<P>> = provider?.models ?? []
  const byId = new Map(models.map((model) => [model.id, model]))
  return {
    models,
    find: (id) => {
      const model = byId.get(id)
      return model === undefined || provider === undefined
        ? Effect.fail(new ModelNotFound({ model: id }))
        : Effect.succeed({ model, provider })
    }
  }
}

/** The asked one of what a model can, or its first. `has`: what the list is of, for who asked for none of it. */
export const oneOf = <A extends string | number>(
  param: string,
  asked: A | undefined,
  all: readonly [A, ...ReadonlyArray<A>],
  has: string
): Effect.Effect<A, ModelRequestInvalid> => {
  const found = asked === undefined ? all[0] : all.find((one) => one === asked)
  if (found !== undefined) return Effect.succeed(found)
  const message = `Invalid value for '${param}': ${has} ${all.join(", ")}`
  return Effect.fail(new ModelRequestInvalid({ message, param, code: null }))
}
