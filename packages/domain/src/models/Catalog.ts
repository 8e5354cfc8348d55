/** The models of one kind with their provider, and the choice among the options of a model. */
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

/** Makes a catalog. `provider`: undefined if no provider offers models of this kind. */
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

/**
 * Returns the requested option of a model, or its first if none was requested. Fails if the model does not have it.
 * `has` begins the message's list of options.
 */
export const chooseOption = <A extends string | number>(
  param: string,
  requested: A | undefined,
  options: readonly [A, ...ReadonlyArray<A>],
  has: string
): Effect.Effect<A, ModelRequestInvalid> => {
  const chosen = requested === undefined ? options[0] : options.find((option) => option === requested)
  if (chosen !== undefined) return Effect.succeed(chosen)
  const message = `Invalid value for '${param}': ${has} ${options.join(", ")}`
  return Effect.fail(new ModelRequestInvalid({ message, param, code: null }))
}
