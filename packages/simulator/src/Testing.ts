/**
 * The former address of the test double. Import `@sluice/testing` instead: this re-export goes with release 0.2.
 */
export {
  type FaultName,
  type FaultOptions,
  FAULTS,
  type OrderedFault,
  type Sluice,
  type SluiceOptions,
  startSluice
} from "@sluice/testing"
