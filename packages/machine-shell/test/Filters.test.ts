/** Filters write what GNU's write: awk, grep, sed, head, tail, jq. */
import { describe } from "@effect/vitest"
import { asBash } from "./support/Outcomes.ts"

describe("a filter of a missing file", () => {
  asBash([
    [
      "sed -i s/a/b/ no; echo $?; echo a > f; sed s/a/b/ no f; echo $?",
      "sed: can't read no: No such file or directory\n2\nb\nsed: can't read no: No such file or directory\n2\n"
    ],
    [
      "for o in -r -q -s -rn; do grep $o a no; echo $?; done; echo a > f; grep a f no; grep -q a f no; echo $?",
      "grep: no: No such file or directory\n2\ngrep: no: No such file or directory\n2\n2\ngrep: no: No such file or directory\n2\nf:a\ngrep: no: No such file or directory\n0\n"
    ]
  ])
})

describe("grep", () => {
  const log = "mkdir d; printf 'loss: 1\\nacc: 2\\nlr: 3\\n' > d/log;"
  asBash([
    [
      `${log} grep -e loss -e lr d/log; grep -v -e loss -e '^acc' d/log; printf 'x\\nacc' | grep -f - d/log`,
      "loss: 1\nlr: 3\nlr: 3\nacc: 2\n"
    ],
    [
      `${log} grep -H lr d/log; grep -1 acc d/log | wc -l; grep -r lr .; grep -rc lr; grep -rh lr .`,
      "d/log:lr: 3\n3\n./d/log:lr: 3\nd/log:1\nlr: 3\n"
    ],
    [`${log} grep -oP '(?<=loss: )[0-9]+' d/log; grep -oE -e 'l.s' -e '[0-9]*' d/log | paste -sd,`, "1\nlos,1,2,3\n"],
    [
      `${log} grep --color=auto -is LOSS d/log; echo a-5 | grep -e -5; grep -n --include='l*' -r acc d`,
      "loss: 1\na-5\nd/log:2:acc: 2\n"
    ]
  ])
})

describe("awk", () => {
  asBash([
    [
      'awk \'{ print length, length "x", length($1); n = length; if (length > 3) print n }\' <<< "ab cd"',
      "5 5x 2\n5\n"
    ],
    [
      "awk 'NR==FNR { a[$1]; next } $1 in a' <(echo x) <(printf 'x 1\\ny 2\\n'); awk 'BEGIN { b[1]\nb[2] } END { for (k in b) n++; print n }' < /dev/null",
      "x 1\n2\n"
    ],
    [
      "echo a,b > f; awk '{ print $2, n }' FS=, OFS=: n=3 f; echo '{ print $1 n }' > p; awk -f p n=4 f; awk '{ print NR, $1 }' OFS=- <<< x",
      "b:3\na,b4\n1-x\n"
    ]
  ])
})

describe("awk with texts side by side", () => {
  asBash([
    [
      `awk -v n=foo '$1 ~ "^" n "$"; $1 !~ "x" "f" && $1 != n "bar" { print "-" $1 }' <<< $'foo\\nfoobar\\nxfoo'`,
      "foo\n-foo\n"
    ],
    [
      `awk '{ k = $1 " " $2; if (k == $3 " " $4) print "same", k; print ($1 " " $2 == "a b") ? 1 : 0, length($1 "x") == 2 }' <<< $'a b a b\\na c a b'`,
      "same a b\n1 1\n0 1\n"
    ],
    [
      `awk 'function f(a, b) { return a b } { t = t (t == "" ? "" : "-") $1; $1 = $NF ("!") } f($1, $2) == "q!" "q" { print t, $0 > "o" $2 }' <<< $'p\\np q'; cat oq`,
      "p-p q! q\n"
    ],
    [
      `awk 'BEGIN { while ((getline line < ("/workspace" "/f")) > 0) n++; if (n + 0 " " == 0 " ") print "none"; print 1 " " -1, 1e-2 "" > "/dev/stdout" }'`,
      "none\n1-1 0.01\n"
    ],
    [
      `awk '{ print $1 | "sort -n"; c[$1]++ } NR == 2 { close("sort -n"); print "--" } END { close("sort -n"); print NR; print "x" | "cat" }' <<< $'2\\n1\\n4\\n3'`,
      "1\n2\n--\n3\n4\n4\nx\n"
    ]
  ])
})

describe("awk with numbers in scientific notation", () => {
  asBash([
    [
      'awk \'BEGIN { printf "%e %.2e %E|%g %.3g %G|%12.3e|%-12g|%012.2e|%+g|% e|%%g %5.1f\\n", 12345.678, 1e-7, 0, 1e-7, 1234567, 1e-10, 5e-5, 0.0001, -3.5e-9, 2.5, 7, 3.14; printf("lr=%.1e\\n", 0.0003) }\'',
      "1.234568e+04 1.00e-07 0.000000E+00|1e-07 1.23e+06 1E-10|   5.000e-05|0.0001      |-0003.50e-09|+2.5| 7.000000e+00|%g   3.1\nlr=3.0e-04\n"
    ],
    [
      "awk 'BEGIN{print 1e-5, 0.00003, 1e-10, 0.1*3, 3e20, 0.000123456789, 100000*1.5, 1234567.89, 0.1+0.2, -1e-20, 1/3}'",
      "1e-05 3e-05 1e-10 0.3 3e+20 0.000123457 150000 1.23457e+06 0.3 -1e-20 0.333333\n"
    ],
    [
      "awk 'BEGIN{print int(-3.7), int(3.7), int(\"12abc\"), int(-0.5), int(\"-2.5\"), 1+int(7/2)*2}'; awk 'BEGIN{OFMT=\"%.2f\"; print 3.14159}'; awk -v OFMT=%.3g 'BEGIN{print 3.14159}'",
      "-3 3 12 0 -2 7\n3.14\n3.14\n"
    ],
    [
      'printf \'b 2\\na 1\\nb 3\\n\' | awk \'{s[$1]+=$2; print $2/2 > "o"} END{for(k in s) print k, s[k] | "sort -k2nr"; printf "%s\\n", NR | "cat -n"; print "q" | "cat -n"}\'; cat o; ls -a',
      "b 5\na 1\n     1\t3\n     2\tq\n1\n0.5\n1.5\n.\n..\no\n"
    ]
  ])
})

describe("wc", () => {
  asBash([
    [
      "printf 'a\\n' > a; printf 'b\\nc é\\n' > b; seq 200 > big; wc a b; wc -l a b; wc -lw a; wc big a; cat a b | wc; wc -l < a; wc -m b; wc -L big b; cat a | wc -lc - no",
      "1 1 2 a\n2 3 7 b\n3 4 9 total\n1 a\n2 b\n3 total\n1 1 a\n200 200 692 big\n  1   1   2 a\n201 201 694 total\n      3       4       9\n1\n6 b\n  3 big\n  3 b\n  3 total\n1 2 -\n1 2 total\nwc: no: No such file or directory\n",
      1
    ],
    [
      "for i in 1 2; do head -c $((i*1000)) /dev/zero > f$i; done; wc f1 f2; find . -name 'f*' | sort | xargs wc -l",
      "   0    0 1000 f1\n   0    0 2000 f2\n   0    0 3000 total\n   0 ./f1\n   0 ./f2\n   0 total\n"
    ]
  ])
})

describe("head and tail", () => {
  asBash([["printf abcdef | tail -3c; printf abcdef | head -2c; seq 3 | tail -1; head -c -1 <<< x", "defab3\nx"]])
})

describe("jq with `inputs`", () => {
  asBash([
    [
      "printf '1 2 3' > f; jq -n 'reduce inputs as $x (0; . + $x)' f; jq --null-input -c '[inputs]' < /dev/null; jq -n 1 f",
      "6\n[]\n1\n"
    ],
    [
      "echo 2 3 | jq -nc --arg k v 'def f(x): x + 1; {($k): [inputs | f(.)], inputs: \"inputs\"}'",
      '{"v":[3,4],"inputs":"inputs"}\n'
    ],
    ["printf 'a,1\\nb,2\\n' | jq -Rnc '[inputs | split(\",\")]'", '[["a","1"],["b","2"]]\n']
  ])
})
