/**
 * The way in for other people's suites: `import { startSluice } from "@sluice/simulator/testing"` (docs/testing.md).
 * A door to what stands above this package; nothing in it comes in by this door.
 */
export {
  type FaultName,
  type FaultOptions,
  FAULTS,
  type OrderedFault,
  type Sluice,
  type SluiceOptions,
  startSluice
} from "@sluice/simulation/double/Double"
