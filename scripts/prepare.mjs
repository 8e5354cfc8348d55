/** Makes the archive from which new embedded databases are unpacked. Needs the pinned Node: it loads TypeScript. */
import { openMemory } from "@sluice/server/database/EmbeddedFiles"

await (await openMemory()).close()
