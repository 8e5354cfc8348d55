/** Parameters with a default work as in bash under `set -u`. */
import { asBash } from "./support/Outcomes.ts"

asBash([
  ['set -u; mkdir -p "${OUT:-out}"; ls', "out\n"],
  ['set -u; [ -n "${X:-}" ] || echo empty; [[ -z "${X-}" ]] && echo "${X+set}" "${X:-a b}"', "empty\n a b\n"],
  ['set -u; f() { local a="${1:-none}"; echo "$a" "${2:-two}"; }; f x; f "" y', "x two\nnone y\n"],
  ['set -u; echo "${A:=1}" $A "${A:+2}"; B=1; echo "${B:-no}" "${C[1]:-element}"', "1 1 2\n1 element\n"],
  ['(set -u; echo "${X:-forked}") & wait', "forked\n"]
])
