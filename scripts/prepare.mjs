/** Builds the archive from which new embedded databases are unpacked. Needs the pinned Node, because it loads TypeScript. */
import { openEmpty } from "@sluice/server/database/Database"
import { worldTables } from "@sluice/simulator/world/WorldMigrations"

await (await openEmpty(worldTables)).close()
