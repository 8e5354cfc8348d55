/**
 * Signals that this process has lost its embedded database for good: the backend died, or another process took over the
 * directory. From then on the process writes nothing, not even by closing the database; every statement fails, and the
 * server exits. Confirmed changes are there after a restart.
 */
import { Context, Deferred, Effect, Exit } from "effect"
import { DatabaseLost } from "./DatabaseErrors.ts"

/** Fails when the database is lost. Never fails with a database that can't be lost this way. */
export const DatabaseLoss = Context.Reference<Effect.Effect<never, DatabaseLost>>(
  "@sluice/server/database/DatabaseLoss",
  { defaultValue: () => Effect.never }
)

/** The loss of one database. It exists before the database is opened. */
export class Loss {
  private readonly lost = Deferred.makeUnsafe<never, DatabaseLost>()
  error: DatabaseLost | undefined

  /** Records the loss and returns its error. Only the first reason counts. */
  declare(reason: string): DatabaseLost {
    if (this.error !== undefined) return this.error
    this.error = new DatabaseLost({ reason })
    Deferred.doneUnsafe(this.lost, Exit.fail(this.error))
    return this.error
  }

  get awaitLoss(): Effect.Effect<never, DatabaseLost> {
    return Deferred.await(this.lost)
  }
}
