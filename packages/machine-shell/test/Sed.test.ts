/** sed writes what GNU's sed writes: each expectation was taken from it. */
import { describe } from "@effect/vitest"
import { asBash } from "./support/Outcomes.ts"

describe("sed that selects lines", () => {
  asBash([
    ["sed -n '/a/,/b/p' <<< $'x\\na\\nb\\ny\\na\\nz'", "a\nb\na\nz\n"],
    ["sed '/^#/d;/^$/d' <<< $'# c\\n\\nk=v\\n'", "k=v\n"],
    [
      "sed -n '2,4p;5q' <(seq 10); sed '2,$d' <(seq 3); sed -n '$=' <(seq 7); sed '1~2d' <(seq 5); sed -n '2~3p' <(seq 9); sed '0,/2/s/2/X/' <<< $'2\\n2'",
      "2\n3\n4\n1\n7\n2\n4\n2\n5\n8\nX\n2\n"
    ],
    [
      "sed '/a/I s/A/x/I' <<< A; sed 's/a/b/I' <<< A; sed 's/o/0/2g' <<< foooo; sed '/x/!d' <<< $'x\\ny'; sed '1,2!s/^/-/' <(seq 4); sed '/2/,+1d' <(seq 5); sed -n '2{p}' <(seq 3); sed '2,3{/2/d;s/3/three/}' <(seq 4); sed 's/$/\\r/' <<< a | od -c | head -1; sed '' <<< e; sed -n '/1/,/1/p' <<< $'1\\n2\\n1\\n3'; sed '3,1d' <(seq 4); sed '2,/x/d' <<< $'a\\nb\\nx\\nc'",
      "x\nb\nfo000\nx\n1\n2\n-3\n-4\n1\n4\n5\n2\n1\nthree\n4\n0000000   a  \\r  \\n\ne\n1\n2\n1\n1\n2\n4\na\nc\n"
    ],
    [
      "sed -E 's/(a)|b/[\\1]/g' <<< ab; sed 's/\\bfoo\\b/X/; s/\\<b/B/' <<< 'foo bar'; sed '/a/,/c/{//!d}' <<< $'a\\nb\\nc\\nd'; sed -n '/a/,$p' <<< $'x\\na\\nb'; sed '/x/,+1{s/^/>/}' <<< $'a\\nx\\ny\\nz'; sed '2~2s/$/!/' <(seq 5); sed -n '2,~4p' <(seq 9); sed '$!d' <(seq 3)",
      "[a][]\nX Bar\na\nc\nd\na\nb\na\n>x\n>y\nz\n1\n2!\n3\n4!\n5\n2\n3\n4\n3\n"
    ]
  ])
})

describe("sed that substitutes", () => {
  asBash([
    [
      "sed 's/\\(.*\\)=\\(.*\\)/\\2=\\1/' <<< a=b; sed -E 's/^[[:space:]]+|[[:space:]]+$//g' <<< '  x y  '; sed 's/[^,]*,//2' <<< a,b,c,d; sed 's/a\\|b/X/g' <<< cab; sed 's/x*/-/g' <<< abxc; sed -E 's/(a|b)+/<&>/' <<< xabay",
      "b=a\nx y\na,c,d\ncXX\n-a-b-c-\nx<aba>y\n"
    ],
    [
      "sed 's/.*/\\U&/; s/^\\(.\\)/\\L\\1/' <<< Hello; sed -E 's/\\b(.)/\\u\\1/g' <<< 'foo bar'; sed 's/hello/\\n/' <<< xhellox; sed 's/\\t/TAB/' <<< $'a\\tb'",
      "hELLO\nFoo Bar\nx\nx\naTABb\n"
    ],
    [
      "sed 's/a/b/;s//X/' <<< aa; sed 's#/a/b#/c#g' <<< /a/b/a/b; sed \"s/'//g\" <<< \"it's\"; sed 's/\\./-/g' <<< 1.2.3; sed 's/[]]/X/' <<< 'a]b'; sed 's/[.*]/_/g' <<< 'a.b*c'; sed 's/a/\\&/' <<< a; sed 's/a/x\\/y/' <<< a",
      "bX\n/c/c\nits\n1-2-3\naXb\na_b_c\n&\nx/y\n"
    ],
    [
      "sed -n 's/^Epoch \\([0-9]*\\).*loss=\\([0-9.]*\\).*/\\1 \\2/p' <<< $'Epoch 1: loss=0.5 x\\nnothing\\nEpoch 2: loss=0.25'; sed -nE 's/.*acc: ([0-9.]+)%.*/\\1/p' <<< 'acc: 93.5% done'; sed 's/[0-9]\\+/<&>/g;s/<1>/one/' <<< '1 22 333'",
      "1 0.5\n2 0.25\n93.5\none <22> <333>\n"
    ],
    [
      "echo \"host=a port=1\" | sed -E 's/host=([^ ]+) port=([0-9]+)/\\1:\\2/'; v=/usr/lib; echo 'P=@P@' | sed \"s|@P@|$v|\"; sed -n '/BEGIN/,/END/{/BEGIN\\|END/!p}' <<< $'a\\nBEGIN\\nin\\nEND\\nb'; sed 's/\\(foo\\)\\{2\\}/x/' <<< foofoo; sed -E 's/a{2,3}/X/' <<< aaaa; sed 's/^/    /' <<< $'a\\nb'; sed G <<< $'a\\nb'; sed -n '$p' <(seq 3); sed '$d' <(seq 3); sed '/^\\s*$/d' <<< $'a\\n  \\nb'; sed 's/\\s\\+/ /g' <<< 'a   b\tc'; sed 's/\\w\\+/W/2' <<< 'ab cd ef'",
      "a:1\nP=/usr/lib\nin\nx\nXa\n    a\n    b\na\n\nb\n\n3\n1\n2\na\nb\na b c\nab W ef\n"
    ],
    [
      "sed 's/^[ \\t]*//;s/[ \\t]*$//' <<< $' \\t x \\t'; sed 's/\"//g;s/\\x27//g' <<< \"\\\"a'b\\\"\"; sed -E 's/([^:]+):([^:]+)/\\2 \\1/' <<< k:v; sed 's/.\\{3\\}/&\\n/g' <<< abcdef; sed 's/$/\\\\/' <<< x; sed 's/a\\.b/X/' <<< 'a.b axb'; sed -E 's/\\$\\{?HOME\\}?/~/' <<< 'x ${HOME}/y'; sed 's/*/x/' <<< 'a*b'; sed -E 's/\\./,/2' <<< 1.2.3; sed 's/a{2}/x/' <<< 'a{2} aa'; sed -E 's/a{2}/x/' <<< 'a{2} aa'; sed 's/\\(^a\\)/<\\1>/;s/\\(b$\\)/<\\1>/' <<< ab; sed 's/a^b$c/x/' <<< 'a^b$c'",
      "x\nab\nv k\nabc\ndef\n\nx\\\nX axb\nx ~/y\naxb\n1.2,3\nx aa\na{2} x\n<a><b>\nx\n"
    ]
  ])
})

describe("sed with its pattern and hold spaces", () => {
  asBash([
    [
      "sed -e '1{h;d}' -e '${G}' <<< $'first\\nmid\\nlast'; sed '1!G;h;$!d' <<< $'1\\n2\\n3'; sed -n 'x;p' <<< $'a\\nb'; sed 'N;N;s/\\n/+/g' <(seq 6); sed '$!N;P;D' <<< $'a\\nb\\nc'",
      "mid\nlast\nfirst\n3\n2\n1\n\na\n1+2+3\n4+5+6\na\nb\nc\n"
    ],
    [
      "sed ':a;N;$!ba;s/\\n/,/g' <(seq 4); sed -e :a -e 's/^.\\{1,5\\}$/ &/;ta' <<< abc; sed '/x/{n;d}' <<< $'x\\nrm\\nkeep'",
      "1,2,3,4\n   abc\nx\nkeep\n"
    ],
    [
      "sed -n 'H;${x;s/\\n/,/g;s/^,//;p}' <(seq 4); sed '/start/,/end/!d' <<< $'0\\nstart\\n1\\nend\\n2'; sed -n '/e1/,/e2/{/e2/q;p}' <<< $'e1\\n1\\ne2\\nx'; sed '/^$/N;/\\n$/D' <<< $'a\\n\\n\\n\\nb'; sed -e ':x' -e 's/^\\([0-9]\\{1,\\}\\)\\([0-9]\\{3\\}\\)/\\1,\\2/;tx' <<< 1234567; sed 's/\\(a\\|b\\)*c/<\\1>/' <<< abac; sed -z 's/\\n/,/g' <<< $'a\\nb'; echo; sed 5q <(seq 100) | wc -l; sed -n '3{p;q}' <(seq 9)",
      "1,2,3,4\nstart\n1\nend\ne1\n1\na\n\nb\n1,234,567\n<a>\na,b,\n5\n3\n"
    ]
  ])
})

describe("sed that inserts, reads and writes", () => {
  asBash([
    [
      "sed '/b/a after' <<< $'a\\nb\\nc'; sed '/b/i\\before' <<< $'a\\nb'; sed '2c changed' <<< $'a\\nb\\nc'; sed '/a/r /etc/hostname.none' <<< a; sed -n '/b/{=;p}' <<< $'a\\nb'",
      "a\nb\nafter\nc\na\nbefore\nb\na\nchanged\nc\na\n2\nb\n"
    ],
    [
      "sed -e 's/a/1/' -e 's/b/2/' <<< ab; sed -f <(echo 's/x/y/') <<< x; sed 's/a/A/w out' <<< a; cat out; sed -s -n '1p' <(echo a) <(echo b); sed -n 'l' <<< $'a\\tb'; sed 'y/abc/\\n\\t-/' <<< abc; sed q5 <<< a; echo $?; sed 'q5' <<< $'a\\nb'; echo $?",
      "12\ny\nA\nA\na\nb\na\\tb$\n\n\t-\na\n5\na\n5\n"
    ],
    [
      "sed '/a/c\\\nnew text' <<< $'x\\na'; sed '2,3c gone' <(seq 4); sed '$!{2,3c gone\n}' <(seq 4); sed '1i\\  indented' <<< x; sed 'a\\\none\\\ntwo' <<< x; sed -e 'i\\' -e 'text' <<< y",
      "x\nnew text\n1\ngone\n4\n1\ngone\n4\n  indented\nx\nx\none\ntwo\ntext\ny\n"
    ],
    [
      "cat > s.sed <<'EOF'\n#!/bin/sed -f\n# comment\n/^#/ d   # inline\ns/a/b/ ; s/b/c/\n2 {\n  s/c/d/\n  p\n}\nEOF\nsed -f s.sed <<< $'# x\\na\\nz'; sed -n -f s.sed <<< $'a\\na'; echo x | sed -e 's/x/y/' -e '#c' -e 's/y/z/'; echo x > in; echo y > ins; sed '/x/r ins' in; sed '1R ins' in in; sed 'w o1' in >/dev/null; cat o1; sed -n '/x/w o2\n$p' in; cat o2; sed '1!b;s/x/first/' in; sed 'n;s/./-/' <(seq 4); sed '$!n;d' <(seq 3); sed 'N;P;D' <(seq 3); sed '1d;n;d' <(seq 5)",
      "d\nd\nz\nd\nz\nx\ny\nx\ny\nx\nx\nx\nx\nfirst\n1\n-\n3\n-\n1\n1\n2\n3\n2\n4\n"
    ]
  ])
})

describe("sed that edits files, and lines without a newline", () => {
  asBash([
    [
      "printf 'k: 1\\nn:\\n  k: 2\\n' > c.yml; sed -i -e 's/^\\( *k: \\).*/\\19/' c.yml; cat c.yml; sed -i '1d' c.yml; cat c.yml; sed -n '/^n:/,$p' c.yml; sed --in-place=.orig 's/9/8/' c.yml; cat c.yml c.yml.orig",
      "k: 9\nn:\n  k: 9\nn:\n  k: 9\nn:\n  k: 9\nn:\n  k: 8\nn:\n  k: 9\n"
    ],
    [
      "printf 'no newline' | sed 's/no/NO/'; echo; printf 'a\\nb' | sed -n '$p'; echo; printf 'a\\nb' > f; printf 'c\\n' > g; sed '' f g; sed -s '1i -' f g; echo; sed -i 's/$/./' f g; cat f; echo; cat g; sed -n '$=' f g; sed F f | head -1",
      "NO newline\nb\na\nb\nc\n-\na\nb\n-\nc\n\na.\nb.\nc.\n3\nf\n"
    ]
  ])
})

describe("sed with an error or without end", () => {
  asBash([
    [
      "for s in s/x/y k /a {p 'p}' 's/\\(/x/' 's/a/\\2/' y/ab/c/ 's/[[:no:]]//' 'b x' '1,p' s/a/b/q; do sed \"$s\" <<< a; echo $?; done 2>&1 | grep -c ^1; sed k",
      "12\nsed: -e expression #1, char 1: unknown command: `k'\n",
      1
    ],
    [
      "sed --nope; sed p no; echo $?; sed -i s/a/b/ /tmp; echo $?; sed '//d' <<< a; sed -n '1!{=}' <<< a",
      "sed: unrecognized option '--nope'\nsed: can't read no: No such file or directory\n2\nsed: couldn't edit /tmp: not a regular file\n4\nsed: no previous regular expression\n"
    ],
    [
      "sed ':a;s/.*/&&/;ba' <<< xx; echo $?; sed ':a;p;ba' <<< y > f; echo $?",
      "sed: couldn't re-allocate memory\n4\nbash: sed: work work limit exceeded (1000000); simulated machine: limit of 1000000\n",
      126
    ],
    ["printf 'a\\xff\\xe9\\n' | sed 's/a/b/; s/./[&]/2' | od -An -tx1", " 62 5b ff 5d e9 0a\n"],
    ["echo 'été' | sed 's/./x/g; s/x/y/2'; IFS== read k v <<< a=b; echo $v", "xyx\nb\n"]
  ])
})
