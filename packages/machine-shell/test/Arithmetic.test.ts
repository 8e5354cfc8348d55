/** Arithmetic gives the results of bash. */
import { describe, expect, it } from "@effect/vitest"
import { asBash, outcome } from "./support/Outcomes.ts"

describe("arithmetic without blanks", () => {
  asBash([
    ["n=3; ((n>=3)) && echo a; ((n<=2)) || echo b; (( n >=3&&n<= 4 )) && echo c", "a\nb\nc\n"],
    ["n=5; while ((n>=3)); do echo $n; ((n--)); done; for ((i=0;i<=1;i++)); do echo $i; done", "5\n4\n3\n0\n1\n"],
    ["x=8; ((x>>=1)); echo $x; a=(1 2); ((a[1]>=2)) && echo el; ((x>=4?y=1:0)); echo $y", "4\nel\n1\n"],
    ["n=0; until ((n>=2)); do n=$((n+1)); done; echo $n; (((n>=2)) && echo fork) & wait", "2\nfork\n"]
  ])

  it("reports an expression that does not parse", async () => {
    expect(await outcome("((1 > )); echo $?")).toEqual([expect.stringMatching(/^1\n.*syntax error/), 0])
  })
})

describe("arithmetic that looks like other syntax", () => {
  asBash([
    [
      "if ((!n)); then echo a; fi; ((!n && 1)) && echo b; (( ! (n) )) > f && echo c; n=1; ((!n)) || echo d; (((!n))) || echo e",
      "a\nb\nc\nd\ne\n"
    ],
    [
      "n=3; while (( !(n % 2 == 0) )); do ((n--)); done; echo $n; until ((! (n > 0))); do ((n--)); done; echo $n",
      "2\n0\n"
    ],
    ["n=3; ((n - 1)) && echo a; (( n - 3 )) || echo b; while (( n - 1 > 0 )); do ((n--)); done; echo $n", "a\nb\n1\n"],
    ["f() { return 1; }; ( ( ! f ) ) && ( (echo a; echo b) | sort -r ) && (( ! f )) && echo c", "b\na\nc\n"],
    [
      'echo a\nx=1; (( x <<= 2 )) && echo $x; echo "((1 << 2))"\n((1 << 4 > 15)); echo $? # ((1<<2))',
      "a\n4\n((1 << 2))\n0\n"
    ],
    ["zero() { echo 0; }; (( ! $(zero) )) && echo y; (( !$(zero) && $(echo 1) )) || echo no", "y\n"],
    ["done=0; while (( !done )); do done=1; echo x; done", "x\n"]
  ])
})

describe("arithmetic on numbers with a base", () => {
  asBash([
    [
      "s=00099; n=$((10#${s})); echo $((n + 1)); (( 10#${s} > 98 && 10#$n == 99 )) && echo gt; h=08:09; echo $(( 10#${h%:*} * 60 + 10#${h#*:} ))",
      "100\ngt\n489\n"
    ],
    [
      "[[ step_00041.pt =~ ([0-9]+) ]]; printf '%05d\\n' $((10#${BASH_REMATCH[1]} + 1)); a=(08); (( n = 10#${a[0]} )); echo $n $(( 10#${n} + $(echo '1 2' | wc -w) ))",
      "00042\n8 10\n"
    ]
  ])
})

describe("arithmetic with a command in it", () => {
  asBash([
    ["t=10; echo $(( $(echo $t) - 3 )); e=$(($(echo $t)*`echo $t`)); echo $e", "7\n100\n"],
    ["steps() { echo $1; }; echo $(( $(steps 7) * $(steps 2) )); (( $(steps 3) > 2 )) && echo more", "14\nmore\n"],
    ["f() { (( $1 <= 1 )) && echo 1 || echo $(( $1 * $(f $(($1-1))) )); }; f 6", "720\n"],
    ["n=2; if (( $(seq $n | wc -l) >= n )); then echo $(( $(echo $((n+1))) + $n )); fi", "5\n"],
    ['s=4; x="a$(( ($(echo $s) + 1) * $s ))b"; echo $x; (echo $(( $(echo $s) / 2 ))) & wait', "a20b\n2\n"],
    ["set -e; s=$(date +%s); echo $(( $(date +%s) - s )) $(( $(date +%s) - $s ))", "0 0\n"]
  ])

  asBash([
    [
      'v=0.5; if (( $(awk "BEGIN{print ($v < 0.95)}") )); then echo lt; fi; (( $(echo "$v >= 0.9" | awk \'{ print ($1 >= $3) }\') )) || echo no',
      "lt\nno\n"
    ],
    [
      'echo $(( $(echo "$(echo "3 4" | cut -d" " -f2)") + $(ls "no such" 2>/dev/null | wc -l) )); (( $(echo \'a  b\' | wc -c) == 5 )) && echo 5',
      "4\n5\n"
    ]
  ])

  it("reads the machine's clock and random numbers", async () => {
    expect(await outcome("s=$SECONDS; sleep 3; echo $((SECONDS - $s)) $(( $(echo $SECONDS) - $s ))")).toEqual([
      "3 3\n",
      0
    ])
    const drawn = await outcome("n=20000; echo $((RANDOM % $n)) $((RANDOM % n))")
    expect(await outcome("n=20000; echo $((RANDOM % $n)) $((RANDOM % n))")).toEqual(drawn)
  })
})
