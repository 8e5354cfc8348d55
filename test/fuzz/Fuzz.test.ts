/** The same mutated requests in each run: enough of them to reach each operation. The deep suite draws new ones each day. */
import { fuzzWith } from "./FuzzSuite.ts"

fuzzWith(500, 1)
