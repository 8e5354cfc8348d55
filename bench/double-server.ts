/** The test double as a suite starts it; models answer at once. */
import { startSluice } from "@sluice/testing"

await startSluice({ port: Number(process.argv[2]) })

process.on("SIGTERM", () => process.exit(0))
