/** A command that another command runs gets the variables and the stdin of that command. */
import { asBash } from "./support/Outcomes.ts"

const SCRIPT = "printf 'echo \"$A$B\"; cat' > s; chmod +x s; "

asBash([
  ["A=1 nohup bash -c 'echo $A'", "1\n"],
  ["A=1 B='x y' timeout 5 bash -c 'echo $A $B'", "1 x y\n"],
  ["A=$'1\\n2' nice env | grep -A1 ^A", "A=1\n2\n"],
  ["echo 7 | A=1 xargs -n1 bash -c 'echo $A $0'", "1 7\n"],
  ["A=1 flock l bash -c 'echo $A'", "1\n"],
  [`${SCRIPT}echo in | A=1 timeout 5 ./s; echo in | A=2 ./s; echo in | B=3 nohup ./s`, "1\nin\n2\nin\n3\nin\n"],
  ['A=1 timeout 5 true; echo "[$A]"; A=1 nohup true; env | grep -c ^A=', "[]\n0\n", 1],
  [
    "export A=1; A=2 timeout 5 bash -c 'echo $A'; timeout 5 bash -c 'echo $A'; unset A; nohup bash -c 'echo \"[$A]\"'",
    "2\n1\n[]\n"
  ]
])
