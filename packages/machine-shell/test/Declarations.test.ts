/** Arrays behind `local`, `declare` and `readonly` work as in bash. */
import { asBash } from "./support/Outcomes.ts"

asBash([
  [
    "a=(3 1 2); IFS=$'\\n' sorted=($(sort <<<\"${a[*]}\")); unset IFS; echo ${#sorted[@]} ${sorted[*]}; l=a,b; IFS=, p=($l); echo ${p[1]}; IFS=: x=$(echo y); echo $x",
    "3 1 2 3\nb\ny\n"
  ],
  [
    'a=(3 1 2); IFS=,; x="${a[*]}"; echo "$x"; cat <<< "[${a[*]}]"; y="$(echo "${a[*]}")-${#a[*]}"; unset IFS; echo "$y" "${a[*]}"',
    "3,1,2\n[3,1,2]\n3,1,2-3 3 1 2\n"
  ],
  [
    'f() { local files=($(echo a b) "$(echo c d)" {1..2}) n=5 x=("$@"); echo "${#files[@]} ${files[2]} $n ${x[1]}"; }; f 1 "2 3"',
    "5 c d 5 2 3\n"
  ],
  [
    'declare -A m=([k]="v w" ["a b"]=$((1+1)) [c]="${x:-y z}"); echo "${m[k]},${m[a b]},${m[c]},${#m[@]}"; declare -a b=([1]="2 x" 3); echo "${b[@]}"',
    "v w,2,y z,3\n2 x 3\n"
  ],
  [
    'f() { local -A m=([k]="v w"); m[j]=1; echo "${#m[@]} ${m[k]}"; g; echo "${m[k]}"; }; g() { local -A m; m[k]=in; }; f; echo "${#m[@]}"',
    "2 v w\nv w\n0\n"
  ],
  [
    'set -e; f() { local a=($(echo x; false)) b=(1 "2 3"); echo "${a[0]} ${b[1]}"; }; f; f || echo no; declare -r R=(1 "2 3"); echo "${R[1]}"',
    "x 2 3\nx 2 3\n2 3\n"
  ],
  [
    'a=(0); f() { local a=(1 2) b=(3) n=4; declare c=(5 "6 7"); echo "${a[@]}${b[@]}$n${c[1]}"; }; f; echo "${a[@]}$b$n$c"',
    "1 2346 7\n0\n"
  ],
  ['a=(1 2); f() { local a=("${a[@]}" 3); echo "${a[@]}"; }; f; echo "${a[@]}"', "1 2 3\n1 2\n"],
  [
    'f() { readonly -A C=([k]="v w"); }; f; echo "${C[k]}"; [ -n "" ] || declare -a k=(5 6) l=() && echo "${k[1]} ${#l[@]}"; readonly L=(1 "2 3") M=4; echo "${L[1]} $M"; O=(5 6); readonly O; echo ${O[1]}',
    "v w\n6 0\n2 3 4\n6\n"
  ],
  [
    "f() { local -i n=3+4 m; m=2*5; n+=1; echo $n $m; }; n=9; f; echo $n $m; f; g() { local -ir a=$1*2; echo $a; }; g 3",
    "8 10\n9\n8 10\n6\n"
  ]
])
