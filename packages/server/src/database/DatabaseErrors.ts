/**
 * Errors that keep the server from starting on a database or a data directory. Each message says what to do and holds
 * no secret.
 */
import { Schema } from "effect"

/** The database did not answer, or refused the connection. `address` is `host:port/name`, without user and password. */
export class DatabaseUnreachable extends Schema.TaggedError<DatabaseUnreachable>()("DatabaseUnreachable", {
  address: Schema.String,
  reason: Schema.String
}) {
  override get message(): string {
    return `The database at ${this.address} can't be reached: ${this.reason}. Check --database-url and that the database runs.`
  }
}

/** The path can't be a data directory: it is a file, it is not writable, or its disk is full. */
export class DataDirectoryUnusable extends Schema.TaggedError<DataDirectoryUnusable>()("DataDirectoryUnusable", {
  directory: Schema.String,
  reason: Schema.String
}) {
  override get message(): string {
    return `The data directory ${this.directory} can't be used: ${this.reason}. Fix the cause, or choose another directory with --data.`
  }
}

/** The embedded database in this directory does not open. */
export class DataDirectoryBroken extends Schema.TaggedError<DataDirectoryBroken>()("DataDirectoryBroken", {
  directory: Schema.String,
  reason: Schema.String
}) {
  override get message(): string {
    return `The data directory ${this.directory} does not open: ${this.reason}. Restore a copy of it, or choose another directory with --data.`
  }
}

/**
 * Another process holds the directory: two processes on one embedded database would lose rows silently. `pid` is 0 when
 * the holder is not known yet, because its lock file is being written.
 */
export class DataDirectoryInUse extends Schema.TaggedError<DataDirectoryInUse>()("DataDirectoryInUse", {
  directory: Schema.String,
  pid: Schema.Int,
  lockFile: Schema.String
}) {
  override get message(): string {
    return (
      `${this.pid === 0 ? "Another process" : `Process ${this.pid}`} already uses the data directory ${this.directory}. Stop it first, or give this one another ` +
      `directory with --data, or let both share a PostgreSQL with --database-url. (Lock: ${this.lockFile})`
    )
  }
}

/** This process can't use the embedded database any more, and writes nothing more to it. */
export class DatabaseLost extends Schema.TaggedError<DatabaseLost>()("DatabaseLost", {
  reason: Schema.String
}) {
  override get message(): string {
    return `The embedded database is lost to this process: ${this.reason}. Confirmed changes are in the data directory. Fix the cause and start the server again.`
  }
}

/** The database is open, but refuses an operation that the server needs. `reason`: the database's own message. */
export class DatabaseRefused extends Schema.TaggedError<DatabaseRefused>()("DatabaseRefused", {
  reason: Schema.String
}) {
  override get message(): string {
    return `The database refused an operation: ${this.reason}. Check its disk space and that its role may write, then try again.`
  }
}

/** The migration of the schema failed. */
export class MigrationFailed extends Schema.TaggedError<MigrationFailed>()("MigrationFailed", {
  reason: Schema.String
}) {
  override get message(): string {
    return `The database's schema can't be migrated: ${this.reason}.`
  }
}

/** The reasons for which a database can't be opened. */
export type DatabaseFailure =
  | DatabaseUnreachable
  | DataDirectoryUnusable
  | DataDirectoryBroken
  | DataDirectoryInUse
  | MigrationFailed
