/** A handler of the EXIT trap runs at the end of its shell, and keeps the exit code unless it exits itself. */
import { asBash } from "./support/Outcomes.ts"

asBash([
  ["set -euo pipefail; trap 'echo \"exit code: $?\"' EXIT; false", "exit code: 1\n", 1],
  ["trap 'rc=$?; echo \"exit $rc\"; exit $rc' EXIT; (exit 3)", "exit 3\n", 3],
  ["trap 'exit 9' EXIT; exit 3", "", 9],
  ["f() { local rc=$?; [ $rc -eq 0 ] || exit 4; }; trap f EXIT; (exit 3)", "", 4],
  ["f() { echo exit now; }; trap f EXIT; exit 6", "exit now\n", 6],
  ["trap false EXIT; exit 0", "", 0],
  ["trap 'echo a; [ -f nope ] && rm nope # exit' EXIT; (exit 2)", "a\n", 2],
  ["trap 'echo main $?' EXIT; (trap - EXIT; exit 4); x=$(trap '' EXIT; echo s); echo $x; exit 7", "s\nmain 7\n", 7],
  [
    "trap 'echo main $?' EXIT; (trap - EXIT; sleep 0.1; echo job) & wait; (trap 'rm f' EXIT; echo in); exit 7",
    "job\ntrap: EXIT: of a subshell or job its handler does not run on a simulated machine\nin\nmain 7\n",
    7
  ]
])
