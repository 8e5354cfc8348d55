/** Loads the benchmark: `npm run bench [-- jobs|chat] [--rounds N] [--seconds N]`. Figures go to standard output; see bench/RESULTS.md. */
import "./Main.ts"
