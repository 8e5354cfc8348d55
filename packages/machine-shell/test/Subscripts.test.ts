/** Subscripts with arithmetic, of lists and of maps. */
import { asBash } from "./support/Outcomes.ts"

asBash([
  [
    'a=(x y z); n=3; i=1; echo ${a[$((n-2))]} "${a[$(((i+1) % 3))]}" ${#a[$((i))]} "${a[$((i+7))]:-none}" ${a[$((${#a[@]}-1))]}',
    "y z 1 none z\n"
  ],
  [
    'a=(x y z); for ((i=0;i<4;i++)); do echo -n "${a[$((i % ${#a[@]}))]} "; done; i=0; echo ${a[$((i++))]} $i; a[$((i + 2))]=w; echo "${a[@]}"',
    "x y z x x 1\nx y z w\n"
  ],
  [
    'set -u; declare -A m=([2]=two [3]=three); k=1; echo ${m[$((k+1))]} "${m[$(( k + 2 ))]}"; f() { local -A l; l[$((k))]=q; echo ${l[$((k))]}; }; f; (f) | cat',
    "two three\nq\nq\n"
  ]
])
