/** Commands with their stories: the second and the text of each write, then the second and the code of the exit. */
import { expect } from "@effect/vitest"

export const stories: ReadonlyArray<readonly [title: string, command: string, story: ReadonlyArray<unknown>]> = [
  [
    "a loop writes in each iteration",
    "for i in 1 2; do echo $i; sleep 1; done",
    [
      [0, "1\n"],
      [1, "2\n"],
      [2, 0]
    ]
  ],
  [
    "a loop behind a pipe writes in each iteration",
    "seq 2 | while read x; do echo $x; sleep 1; done",
    [
      [0, "1\n"],
      [1, "2\n"],
      [2, 0]
    ]
  ],
  [
    "`if` and `case` write when their commands run",
    "if ls /no; then :; else case a in a) echo b; sleep 2;; esac; echo c; fi",
    [
      [0, "ls: cannot access '/no': No such file or directory\nb\n"],
      [2, "c\n"],
      [2, 0]
    ]
  ],
  [
    "a function writes when its commands run",
    "f() { echo $FUNCNAME $1; sleep 1; return 4; }; f a; f b; echo $?",
    [
      [0, "f a\n"],
      [1, "f b\n"],
      [2, "4\n"],
      [2, 0]
    ]
  ],
  [
    "a captured function writes to its capture",
    "f() { echo x; sleep 1; echo e >&2; }; y=$(f); echo [$y]; f | tr x z",
    [
      [1, "e\n[x]\n"],
      [2, "e\nz\n"],
      [2, 0]
    ]
  ],
  [
    "a function that a condition defines runs by its name",
    "command -v g >/dev/null || g() { echo mine; }; g",
    [
      [0, "mine\n"],
      [0, 0]
    ]
  ],
  [
    "bash -c writes when its commands run",
    "bash -c 'echo a; sleep 1; echo b; exit 7'",
    [
      [0, "a\n"],
      [1, "b\n"],
      [1, 7]
    ]
  ],
  [
    "bash takes flags in front of -c",
    "bash -euo pipefail -c 'echo $1; false | cat; echo no' x y",
    [
      [0, "y\n"],
      [0, 1]
    ]
  ],
  [
    "a script file writes when its commands run",
    "printf 'echo a; sleep 1\\necho b\\n' > s.sh; bash s.sh; rm s.sh",
    [
      [0, "a\n"],
      [1, "b\n"],
      [1, 0]
    ]
  ],
  [
    "a captured bash writes to its capture",
    "x=$(bash -c 'echo a'); echo got $x",
    [
      [0, "got a\n"],
      [0, 0]
    ]
  ],
  [
    "an executable script writes when its commands run",
    "printf '#!/bin/bash\\necho a; exit 5\\n' > s; chmod +x s; ./s; echo $?; rm s",
    [
      [0, "a\n5\n"],
      [0, 0]
    ]
  ],
  [
    "a redirected group writes to its file",
    "{ echo a; echo b >&2; } > f; cat f; { ls /no; } 2>/dev/null; rm f",
    [
      [0, "b\na\n"],
      [0, 0]
    ]
  ],
  [
    "2>&1 in front of a pipe sends stderr into the pipe",
    "{ echo a; echo b >&2; } 2>&1 | sort -r",
    [
      [0, "b\na\n"],
      [0, 0]
    ]
  ],
  [
    "exec >file sends the rest of the script to the file",
    "exec > f; echo hidden; cat f >&2; rm f",
    [
      [0, "hidden\n"],
      [0, 0]
    ]
  ],
  [
    "exec command ends the shell with the command",
    "exec echo instead; echo never",
    [
      [0, "instead\n"],
      [0, 0]
    ]
  ],
  [
    "background jobs run beside the script",
    "(sleep 2; echo b) & sleep 1; echo a; wait; echo c",
    [
      [1, "a\n"],
      [2, "b\nc\n"],
      [2, 0]
    ]
  ],
  [
    "an endless background job ends with the script",
    "while true; do echo tick; sleep 4; done & sleep 6; echo end",
    [
      [0, "tick\n"],
      [4, "tick\n"],
      [6, "end\n"],
      [6, 0]
    ]
  ],
  [
    "kill ends a background job, and wait returns its status",
    "sleep 60 & p=$!; (sleep 1; exit 3) & q=$!; kill $p; wait $q; echo $?; wait $p; echo $?",
    [
      [1, "3\n143\n"],
      [1, 0]
    ]
  ],
  [
    "timeout ends a command at its limit",
    "timeout 2 sleep 9; echo $?; timeout 5 echo ok; timeout 2 bash -c 'echo a; sleep 1; echo b; sleep 9; echo c'; echo $?",
    [
      [2, "124\nok\na\n"],
      [3, "b\n"],
      [4, "124\n"],
      [4, 0]
    ]
  ],
  [
    "an EXIT trap runs at the end",
    "x=1; f() { echo bye $x $?; }; trap f EXIT; x=2; exit 3",
    [
      [0, "bye 2 3\n"],
      [0, 3]
    ]
  ],
  [
    "an EXIT trap runs when set -e ends the script",
    "set -e; trap 'echo bye' EXIT; false; echo no",
    [
      [0, "bye\n"],
      [0, 1]
    ]
  ],
  [
    "time reports the machine's time",
    "time sleep 1.5",
    [
      [1.5, "\nreal\t0m1.500s\nuser\t0m0.000s\nsys\t0m0.000s\n"],
      [1.5, 0]
    ]
  ],
  [
    "date reads the machine's clock",
    "date -u +%FT%TZ; sleep 1h; date +%s; date -d '1 day ago' +%F; date -Is",
    [
      [0, "2023-11-14T22:13:20Z\n"],
      [3600, "1700003600\n2023-11-13\n2023-11-14T23:13:20+00:00\n"],
      [3600, 0]
    ]
  ],
  [
    "SECONDS counts the machine's seconds",
    "sleep 2; echo $SECONDS $((SECONDS + 1))",
    [
      [2, "2 3\n"],
      [2, 0]
    ]
  ],
  ["a command that does not end runs on", "echo a; sleep infinity", [[0, "a\n"], "runs on"]],
  [
    "a missing command exits with 127, and the machine says what it lacks",
    "python3 -c 1; echo $?; no-such",
    [
      [
        0,
        "bash: python3: command not found\nsimulated machine: a program is missing; it has bash and the usual text tools, but no Python, CUDA or network; `programs` of a scenario can stand in for it\n127\nbash: no-such: command not found\n"
      ],
      [0, 127]
    ]
  ],
  [
    "a syntax error ends the script with 2",
    "echo a; if then",
    [
      [0, expect.stringContaining("syntax error")],
      [0, 2]
    ]
  ],
  [
    "the machine describes itself",
    "uname -sm; nproc; whoami; hostname; ulimit -n; umask; echo $HOME $PWD",
    [
      [0, "Linux x86_64\n32\nroot\nmachine-1\nunlimited\n0022\n/workspace /workspace\n"],
      [0, 0]
    ]
  ],
  [
    "nvidia-smi shows the machine's GPUs",
    "nvidia-smi --query-gpu=index,name,memory.total --format=csv,noheader; nvidia-smi -L | wc -l; nvidia-smi | grep -c H100",
    [
      [0, "0, NVIDIA H100 80GB HBM3, 81559 MiB\n1, NVIDIA H100 80GB HBM3, 81559 MiB\n2\n2\n"],
      [0, 0]
    ]
  ]
]
