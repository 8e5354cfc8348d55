/**
 * Is the embedded database of this process lost for good: did its backend die, or does its directory belong to another
 * process by now? Then nothing is written any more, not even by closing it, every statement fails, and the server ends: who
 * runs it starts it again, and what was confirmed is there.
 */
import { Context, Deferred, Effect, Exit } from "effect"
import { DatabaseLost } from "./DatabaseErrors.ts"

/** Fails when the database is lost; never, where none can be. */
export const DatabaseLoss = Context.Reference<Effect.Effect<never, DatabaseLost>>(
  "@sluice/server/database/DatabaseLoss",
  { defaultValue: () => Effect.never }
)

/** Of one database, from before it is opened. */
export class Loss {
  private readonly lost = Deferred.makeUnsafe<never, DatabaseLost>()
  error: DatabaseLost | undefined

  /** The first reason counts. */
  tell(reason: string): DatabaseLost {
    if (this.error !== undefined) return this.error
    this.error = new DatabaseLost({ reason })
    Deferred.doneUnsafe(this.lost, Exit.fail(this.error))
    return this.error
  }

  get told(): Effect.Effect<never, DatabaseLost> {
    return Deferred.await(this.lost)
  }
}
