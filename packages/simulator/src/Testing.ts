/** The former address of the test double. Import `@sluice/testing` instead: release 0.2 removes this re-export. */
export {
  type FaultName,
  type FaultOptions,
  FAULTS,
  type OrderedFault,
  type Sluice,
  type SluiceOptions,
  startSluice
} from "@sluice/testing"
