/** `printf` and `echo -e` write the bytes that bash writes. Outputs are in latin1. */
import { expect, it } from "@effect/vitest"
import { asBash, outcome } from "../support/Outcomes.ts"

asBash([
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

it("`printf` knows the machine's time", async () => {
  const command = "sleep 1h; printf '%(%FT%T)T\\n' -1; printf '%(%H)T\\n'"
  expect(await outcome(command)).toEqual(["2023-11-14T23:13:20\n23\n", 0])
})
