/** Serves the test double as a suite starts it. Models answer at once. */
import { startSluice } from "@sluice/testing"

await startSluice({ port: Number(process.argv[2]) })

process.on("SIGTERM", () => process.exit(0))
