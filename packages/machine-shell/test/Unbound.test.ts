/** A parameter that is not set ends a script where bash ends it, and the message names the parameter. */
import { describe, expect, it } from "@effect/vitest"
import { asBash, outcome } from "./support/Outcomes.ts"

describe("`set -u` that ends a script", () => {
  asBash([
    ['set -u; f() { echo "$1"; echo no; }; f || echo no; echo no', "bash: $1: unbound variable\n", 1],
    ["set -eu; main() { for i in 1 2; do echo $i; x=a$y; done; }; main; echo no", "1\nbash: y: unbound variable\n", 1],
    ['set -u; if [[ ! ( "$key" = "" ) ]]; then echo no; fi; echo no', "bash: key: unbound variable\n", 1],
    ["set -u; { echo hi > $z; }; echo no", "bash: z: unbound variable\n", 1],
    [
      "set -u; (echo $z; echo no) 2>/dev/null; echo $?; echo $z 2>/dev/null | cat; x=$(echo $z) || echo $?",
      "1\nbash: z: unbound variable\n1\nbash: z: unbound variable\n"
    ],
    ["set -u; f() { a=(1 2); echo ${a[1]}; echo ${a[2]}; }; f", "2\nbash: a[2]: unbound variable\n", 1],
    ["set -u; f() { echo $1; }; (f; echo no) & wait $!; echo $?", "bash: $1: unbound variable\n1\n"]
  ])
})

describe("`set -u` that ends nothing", () => {
  asBash([
    ['set -u; f() { [[ -n ${x:-} && $y = 1 ]] || echo "${1-a}" "$@" $# "${x+b}"; }; f', "a 0 \n"],
    ["set -u; f() { echo a$x; }; set +u; f; (set -u); echo b$x", "a\nb\n"],
    ["f() { echo a$1; }; f; x=$y; set -u; n=0; while [[ $n -lt 2 ]]; do n=$((n + 1)); done; echo $n", "a\n2\n"]
  ])
})

describe("`${x:?why}`, which names its parameter and keeps the variables for a trap", () => {
  asBash([
    [
      '(echo "${A:?set A}"); A=; (: ${A:?}); f() { echo ${1?}; }; (f) 2>/dev/null; echo $?',
      "1\nbash: A: set A\nbash: A: parameter null or not set\n"
    ],
    [
      "trap 'echo bye $t $?' EXIT; t=x; f() { : \"${1:?usage: f NAME}\"; }; f; echo no",
      "bash: 1: usage: f NAME\nbye x 1\n",
      1
    ],
    [
      "set -u; trap 'f $t' EXIT; f() { echo ${1:?no} $?; }; t=x; (t=y; exit 3) & wait; g() { echo $z; }; g",
      "bash: z: unbound variable\nx 1\n",
      1
    ]
  ])
})

it("the checks of `set -u` cost a loop no command of its limit", async () => {
  const body = 'x=$i; [[ $x = 1 ]] && echo one; y=$x; [ -n "$x" ] || x=2'
  expect((await outcome(`set -u; f() { for i in {1..15000}; do ${body}; done; }; f`))[1]).toBe(0)
})
