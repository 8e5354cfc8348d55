/**
 * The public entry of `@sluice/testing`: `import { startSluice } from "@sluice/testing"` starts the whole service in the
 * process of a test (docs/testing.md). The other files of this package serve the suites of this checkout.
 */
export {
  type FaultName,
  type FaultOptions,
  FAULTS,
  type OrderedFault,
  type Sluice,
  startSluice
} from "./double/Double.ts"
export { type SluiceOptions } from "./double/SluiceOptions.ts"
