/** Exit statuses are those of bash: the value of `$?`, and the command at which `set -e` ends a script. */
import { describe, expect, it } from "@effect/vitest"
import { asBash, outcome } from "./support/Outcomes.ts"

describe("an assignment that succeeds", () => {
  asBash([
    ["set -e; if false; then x=1; else x=2; fi; echo go $x", "go 2\n"],
    ['set -e; [ -n "$n" ] || n=default; [ -n "" ] && echo x; y=1; echo $n $y', "default 1\n"],
    ["set -e; n=0; until [ $n = 2 ]; do n=$((n+1)); done; echo $n", "2\n"],
    ["set -e; false || rc=$?; echo $rc", "1\n"],
    ["false; x=1; echo $?; false; a=(1 2); echo $?; false; a[3]=x; echo $? ${a[@]}", "0\n0\n0 1 2 x\n"],
    ["false; x=$?; echo $x $?; y=$(exit 3); echo $?", "1 0\n3\n"],
    ["y=1; false; y=${y:-$(exit 4)}; echo $?; false; y=${z:-$(exit 4)}$?; echo $? $y", "0\n4 4\n"],
    ["exec 3>f; echo a >&3; x=1; echo b >&3; cat f", "a\nb\n"]
  ])
})

describe("a suspended `set -e`", () => {
  asBash([
    ["set -e; x=$(ls /no 2>&1) || echo handled; echo go", "handled\ngo\n"],
    ["set -e; f() { false; echo in; return 3; }; f || echo alt $?; f && echo no; echo $?", "in\nalt 3\nin\n3\n"],
    ["set -e; f() { false; echo in; }; ! f; ! f | cat; f | cat || echo no; echo go", "in\nin\nin\ngo\n"],
    ["set -e; { false; true; } || echo no; (false; echo r) || echo no; echo go", "r\ngo\n"],
    [
      "set -e; for i in 1 2; do false; done || echo loop; case a in a) false; echo in;; esac && echo y",
      "loop\nin\ny\n"
    ],
    ["set -e; f() { false; echo in; }; echo $(f); x=$(false; echo a); echo $x", "in\na\n"],
    ['set -e; f() { false; echo in; }; c=f; "$c" || echo no; (exit 6) || echo $?', "in\n6\n"],
    ["set -e; echo 'f() { false; echo in; }' > lib; . ./lib; f || echo no; echo go", "in\ngo\n"],
    ["(set -e; f() { false; echo in; }; f || echo no; f; echo no) & wait $!; echo $?", "in\n1\n"]
  ])
})

describe("`exit` under `set -e`", () => {
  asBash([
    ["set -e; ls /no 2>f || exit 12; echo no", "", 12],
    ["set -e; trap 'echo bye $?' EXIT; f() { return 3; }; f || { x=1; exit 5; }", "bye 5\n", 5],
    ["set -e; false || exit; echo no", "", 1],
    ["set -e; (false || exit 7) || echo $?; (ls /no 2>f || exit $?) & wait $! || echo $?; false || exit 0", "7\n2\n"]
  ])
})

describe("`set -e` that ends a script", () => {
  asBash([
    ['set -e; f() { [ -n "" ] && echo x; }; f || echo alt; f; echo no', "alt\n", 1],
    ["set -e; f() { false; echo in; }; f || echo no; f; echo no", "in\n", 1],
    ["set -e; f() { return 3; }; if f; then :; fi; x=$(f); echo no", "", 3],
    ["set -e; true && { false; echo no; }; echo no", "", 1],
    ["set -e; x=$(true; exit 9); echo no", "", 9],
    ["set -e; f() { return 3; }; f || f || cat /no; echo no", "cat: /no: No such file or directory\n", 1],
    ["set -e; f() { :; }; f && [ -f x ]; echo no", "", 1],
    ["(set -e; f() { return 3; }; f || [ -f x ] || echo alt; f || ls /no 2>x; echo no) & wait $!", "alt\n", 2],
    ["set -eu; (false; echo no) & wait $!; echo no", "", 1],
    ["f() { return 4; }; g() { f || return; echo no; }; g; echo $?; ! f && echo not", "4\nnot\n"],
    [
      'out=$(echo a; exit 3) 2>/dev/null || echo "$? $out"; set -e; x=$(echo b) > f; echo "$x" >> f; cat f; x=$(false) 2> f; echo no',
      "3 a\nb\n",
      1
    ],
    ["for i in 1 2 3; do { [ $i = 2 ] && break; } || echo $i; done", "1\n"]
  ])
})

it("the repair of exit statuses costs a loop without `set -e` no command of its limit", async () => {
  const body = 'x=$i; [ $i = 1 ] && echo one; false || true; [ -n "$x" ] || x=2; ((x > 0)) && y=1'
  expect((await outcome(`for i in {1..9900}; do ${body}; done`))[1]).toBe(0)
})
