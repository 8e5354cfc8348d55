/** `--help` as an option of the program itself and as data of every other command, compared with bash 5.2. */
import { describe } from "@effect/vitest"
import { asBash } from "./support/Outcomes.ts"

/** A script that prints its arguments. */
const script = (rest: string) => `printf 'echo "[$#] $*"\\n' > t; chmod +x t; ${rest}`

describe("a script gets --help", () => {
  asBash([
    [script("./t --help; ./t a --help; $PWD/t --help b"), "[1] --help\n[2] a --help\n[2] --help b\n"],
    [script("bash t --help; bash t a --help b; sh t --help"), "[1] --help\n[3] a --help b\n[1] --help\n"],
    [`bash -c 'echo "$0 $*"' x --help; bash -c 'echo "$0 $*"' --help`, "x --help\n--help \n"],
    [script("env ./t --help; env A=1 bash t --help; env -i ./t --help"), "[1] --help\n[1] --help\n[1] --help\n"],
    [script("timeout 5 ./t --help; timeout 5 bash t a --help"), "[1] --help\n[2] a --help\n"],
    [script("echo a | xargs ./t --help; echo --help | xargs bash t"), "[2] --help a\n[1] --help\n"],
    [script("nice ./t --help; nohup bash t --help; (exec ./t --help); exec bash t --help"), "[1] --help\n".repeat(4)],
    [script('. ./t --help; f() { bash t "$@"; }; f --help; cat t | bash -s -- --help'), "[1] --help\n".repeat(3)],
    ["case --help in -h|--help) echo usage; exit 2;; esac", "usage\n", 2]
  ])
})

describe("a text may be --help", () => {
  asBash([
    ["printf '%s\\n' --help; printf '%s %s\\n' a --help; printf -- '--help\\n'", "--help\na --help\n--help\n"],
    ["printf -v x %s --help; echo $x; echo --help; eval echo --help", "--help\n--help\n--help\n"],
    [
      "touch -- --help; ls -- --help; rm -- --help; cat -- --help",
      "--help\ncat: --help: No such file or directory\n",
      1
    ],
    ["find . -name --help; awk 'BEGIN{print ARGV[1]}' x --help; jq -n --arg a --help '$a'", 'x\n"--help"\n'],
    ["expr --help = --help; [ --help = --help ] && echo same; grep -c -- --help <<< '-a --help'", "1\nsame\n1\n"]
  ])
})

describe("set gives a shell --help among its parameters", () => {
  asBash([
    ['set -- a --help; echo "$# $1 $2"; set -- "$@" c; echo "$# $*"', "2 a --help\n3 a --help c\n"],
    ['f() { set -- "$@" x; echo "$# $2"; }; f --help; echo $#', "2 x\n0\n"],
    ['set -- 1 2 3; set -eu -- --help "$@"; echo "$# $4"; shift 3; echo "$@"; shift; echo $#', "4 3\n3\n0\n"],
    [
      "(set -- --help; echo in $1); echo out $#; set -- $(echo --help b); echo $2 $?; set --; echo $#",
      "in --help\nout 0\nb 0\n0\n"
    ],
    [
      'set -- --help b; for a; do echo "<$a>"; done; while [ $# -gt 0 ]; do shift; done; echo "$*"',
      "<--help>\n<b>\n\n"
    ],
    ['set -- 1 2 3 4; set -- "$@" --help; set -- "$5"; echo "$# $1 [$2] ${@: -1}"', "1 --help [] --help\n"],
    [
      'set -u; set -- "--help"; echo "${1}"; set -- "$@"; echo "$2"; echo never',
      "--help\nbash: $2: unbound variable\n",
      1
    ]
  ])
})

describe("a program prints its own help", () => {
  asBash([
    [
      "cat --help | grep -c '^Usage: cat'; cp a --help | grep -c '^Usage: cp'; bash --help | grep -ci '^usage:*'",
      "1\n1\n1\n"
    ]
  ])
})
