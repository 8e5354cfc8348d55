/** Why the server does not start on a database or a data directory. Each message says what to do; none holds a secret. */
import { Schema } from "effect"

/** The database did not answer, or refused us. `address` is `host:port/name`, without user and password. */
export class DatabaseUnreachable extends Schema.TaggedError<DatabaseUnreachable>()("DatabaseUnreachable", {
  address: Schema.String,
  reason: Schema.String
}) {
  override get message(): string {
    return `The database at ${this.address} can't be reached: ${this.reason}. Check --database-url and that the database runs.`
  }
}

/** This can be no data directory: a file, a place where we may not write, a disk without room. */
export class DataDirectoryUnusable extends Schema.TaggedError<DataDirectoryUnusable>()("DataDirectoryUnusable", {
  directory: Schema.String,
  reason: Schema.String
}) {
  override get message(): string {
    return `The data directory ${this.directory} can't be used: ${this.reason}. Mend that, or give another one with --data.`
  }
}

/** The embedded database in this directory does not open. */
export class DataDirectoryBroken extends Schema.TaggedError<DataDirectoryBroken>()("DataDirectoryBroken", {
  directory: Schema.String,
  reason: Schema.String
}) {
  override get message(): string {
    return `The data directory ${this.directory} does not open: ${this.reason}. Give another one with --data, or restore a copy of it.`
  }
}

/**
 * Another process holds the directory: two on one embedded database would lose rows silently. `pid` is 0 when the holder
 * is not known yet (its lock file is just being written).
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

/** The embedded database can't be used any more by this process, which writes nothing more to it. */
export class DatabaseLost extends Schema.TaggedError<DatabaseLost>()("DatabaseLost", {
  reason: Schema.String
}) {
  override get message(): string {
    return `The embedded database is lost to this process: ${this.reason}. What was confirmed is in the data directory; mend the cause and start again.`
  }
}

/** It is open, and does not do what a server needs of it. `reason`: its own words. */
export class DatabaseRefused extends Schema.TaggedError<DatabaseRefused>()("DatabaseRefused", {
  reason: Schema.String
}) {
  override get message(): string {
    return `The database does not do what was asked of it: ${this.reason}. Give it room and a role that may write, and try again.`
  }
}

/** The schema could not be brought up to date. */
export class MigrationFailed extends Schema.TaggedError<MigrationFailed>()("MigrationFailed", {
  reason: Schema.String
}) {
  override get message(): string {
    return `The database's schema can't be brought up to date: ${this.reason}.`
  }
}

/** Why there is no database to work with. */
export type DatabaseFailure =
  | DatabaseUnreachable
  | DataDirectoryUnusable
  | DataDirectoryBroken
  | DataDirectoryInUse
  | MigrationFailed
