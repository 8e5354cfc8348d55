/** Mutated requests of a new seed each day; `SLUICE_FUZZ=100000` for the long run, `SLUICE_FUZZ_SEED` for a seed of yours. */
import { fuzzWith } from "./FuzzSuite.ts"

const count = Number(process.env["SLUICE_FUZZ"] ?? 3_000)
const seed = Number(process.env["SLUICE_FUZZ_SEED"] ?? Math.floor(performance.timeOrigin / 86_400_000))
fuzzWith(count, seed)
