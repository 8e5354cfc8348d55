/** Files are put in place and compared as by GNU's programs. */
import { asBash } from "./support/Outcomes.ts"

asBash([
  [
    "touch a b; chown root:root a && chown -R 0:0 . && chgrp root a b; chown root nofile; echo $?",
    "chown: cannot access 'nofile': No such file or directory\n1\n"
  ],
  [
    "install -d x/y z; ls -d x/y z; echo hi > f; install -m 644 f g; stat -c %a g; install f x; stat -c %a x/f; install -D f n/m/f; cat n/m/f; install f g z; ls z; install nofile z; echo $?",
    "x/y\nz\n644\n755\nhi\nf\ng\ninstall: cannot stat 'nofile': No such file or directory\n1\n"
  ],
  [
    "printf 'a\\nb\\nc\\n' > 1; printf 'a\\nx\\nc\\n' > 2; printf 'a\\nb\\n' > 3; printf 'a\\nb' > 4; : > 5; cmp 1 2; cmp 1 1 && cmp -n 2 1 2 && cat 1 | cmp - 1 && echo same; cmp -s 1 2 || echo differ; for i in 3 4 5 no; do cmp 1 $i; done; echo $?",
    "1 2 differ: byte 3, line 2\nsame\ndiffer\ncmp: EOF on 3 after byte 4, line 2\ncmp: EOF on 4 after byte 3, in line 2\ncmp: EOF on 5 which is empty\ncmp: no: No such file or directory\n2\n"
  ],
  [
    "flock lock echo in; flock -n lock -c 'echo c; exit 3'; echo $?; ( flock -x 9; echo sub ) 9> l2; flock -w 5 lock bash -c 'echo $0 $1' a b; exec 200> l3; flock -n 200 && ls",
    "in\nc\n3\nsub\na b\nl2\nl3\nlock\n"
  ]
])
