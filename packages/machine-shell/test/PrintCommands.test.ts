/** `printf` and `echo -e` write the bytes that bash writes. Outputs are in latin1. */
import { expect, it } from "@effect/vitest"
import { asBash, outcome } from "./support/Outcomes.ts"

asBash([
  [
    "printf '%g %g %g %g %g\\n' 100 100000 1000000 0.001 1e-5; printf '%.3g %.10g %g\\n' 1234567 1234567 0; printf '%G %E\\n' 1e-10 12; printf '%8.3g|%-8g|%08g|%+g|% g|%#g\\n' 1234.5 2 -3 4 5 6",
    "100 100000 1e+06 0.001 1e-05\n1.23e+06 1234567 0\n1E-10 1.200000E+01\n1.23e+03|2       |-0000003|+4| 5|6.00000\n"
  ],
  [
    "printf '%s=%g\\n' lr 3e-20 eps 1e20 x; printf '%g\\n'; printf '%d %g%%\\n' 5 99.5 6; printf '%s\\n' %g; for i in 1 10 1e3; do printf '%g ' $i; done",
    "lr=3e-20\neps=1e+20\nx=0\n0\n5 99.5%\n6 0%\n%g\n1 10 1000 "
  ],
  ["printf '\\303\\251 \\xc3\\xa9 \\u00e9 \\U1F600 é\\n'", "Ã© Ã© Ã© ð\u009f\u0098\u0080 Ã©\n"],
  ["printf '\\377\\0\\1' > f; wc -c < f; base64 f; printf 'a\\xffb\\n'", "3\n/wAB\naÿb\n"],
  ["printf '%b|%s\\n' 'a\\303\\251b\\tq' 'c\\x41'; printf '%s\\\\x41%%\\n' é", "aÃ©b\tq|c\\x41\nÃ©\\x41%\n"],
  ["echo -e 'a\\xc3\\xa9\\tb\\0101\\\\x41\\u00e9'; echo -n -e 'x\\n'; echo 'é\\x41'", "aÃ©\tbA\\x41Ã©\nx\nÃ©\\x41\n"],
  ["x=$(printf '\\303\\251'); echo \"$x ${#x}\"; printf -v y '%03d|%s' 7 é; echo $y ${#y}", "Ã© 1\n007|Ã© 5\n"],
  [
    "printf '%-4s|%5s|%c\\xc3\\xa9\\n' é ab xyz; printf '%q\\n' \"a b'c\"; printf -- '-%s\\n' x",
    "Ã©  |   ab|xÃ©\na\\ b\\'c\n-x\n"
  ],
  ["printf 'é\\n' | tr a-z A-Z; printf 'é\\n' > f; cat f; printf '\\377\\376\\n' | tee g | base64", "Ã©\nÃ©\n//4K\n"],
  [
    "printf '%s\\n'; printf '%s-%s\\n' a b c; printf 'x\\cy'; printf '%d\\n' 1x 2>/dev/null; echo $?",
    "\na-b\nc-\nx\\cy1\n1\n"
  ],
  [
    "echo -e '\\303 \\0303\\0251 \\e[1m' \\n; printf '\\e[0m%b\\n' '\\e[1m\\303\\251'; echo -e 'a\\cb' c",
    "\\303 Ã© \x1b[1m n\n\x1b[0m\x1b[1mÃ©\na"
  ],
  [
    "(printf 'é\\303\\251\\n') & wait; f() { printf '%b\\n' \"$1\"; }; f 'é\\u00e9'; f a b | sort; fmt='%s\\u00e9\\n'; printf \"$fmt\" x",
    "Ã©Ã©\nÃ©Ã©\na\nxÃ©\n"
  ],
  ["TZ=UTC printf '%(%F)T %s\\n' 0 a", "1970-01-01 a\n"]
])

it("`printf %(...)T` reads the machine's time", async () => {
  const command = "sleep 1h; printf '%(%FT%T)T\\n' -1; printf '%(%H)T\\n'"
  expect(await outcome(command)).toEqual(["2023-11-14T23:13:20\n23\n", 0])
})
