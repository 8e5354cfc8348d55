/**
 * Outputs of the tools of bash scripts, as GNU coreutils 9.1 and bash 5.2 write them: title, command, output, exit code
 * if not 0.
 */
export const toolStories: ReadonlyArray<readonly [title: string, command: string, output: string, code?: number]> = [
  [
    "a range can have more than 10,000 words",
    "for i in {1..12000}; do n=$i; done; echo $n; set -- {1..20001..2}; echo $#; set -- x{12000..1}; echo $# ${12000}; set -- {00001..10500}; echo ${10500}",
    "12000\n10001\n12000 x1\n10500\n"
  ],
  [
    "head and tail read units of bytes",
    "yes | head -c 2K | wc -c; printf abcdef > f; head -c +3 f; head -c -2 f; echo; tail -c +3 f; echo; tail -c 2K f; echo; head -c 1kB f | tail -c2",
    "2048\nabcabcd\ncdef\nabcdef\nef"
  ],
  [
    "yes writes as long as head reads",
    "yes | head -c 1M | wc -c; yes | head -n 200000 | wc -l; yes é | head -c 600001 | wc -c; yes ab cd | head -300000 | tail -n1; yes | head -3",
    "1048576\n200000\n600001\nab cd\ny\ny\ny\n"
  ],
  [
    "head and tail count lines from either end",
    "seq 12 | head -n -8; seq 5 | tail -n +4; seq 5 | tail -n -2; seq 20 | tail -3; seq 5 | head -2; seq 5 | head --lines=1; printf 'a\\nb' | head -n 5; echo; printf 'a\\0b\\0' | head -zn1 | wc -c",
    "1\n2\n3\n4\n4\n5\n4\n5\n18\n19\n20\n1\n2\n1\na\nb\n2\n"
  ],
  [
    "head and tail show the names of several files",
    "printf 'a\\nb\\n' > f; printf 'c' > g; head -n 1 f g; head -qn1 f g; echo; tail -vn 1 f; head -n1 f nope; echo $?; mkdir d; tail d",
    "==> f <==\na\n\n==> g <==\nca\nc\n==> f <==\nb\n==> f <==\na\nhead: cannot open 'nope' for reading: No such file or directory\n1\ntail: error reading 'd': Is a directory\n",
    1
  ],
  [
    "/dev/zero and /dev/urandom give as many bytes as a command reads",
    'head -c 1M /dev/zero > z; wc -c < z; head -c 16 /dev/urandom | wc -c; head -c 300000 < /dev/zero | wc -c; cat /dev/zero | head -c 300000 | md5sum; tr -dc a-z < /dev/urandom | head -c 8 | wc -c; [ "$(head -c 9 /dev/urandom | base64)" != "$(head -c 9 /dev/urandom | base64)" ] && echo different',
    "1048576\n16\n300000\n4a21de7a58fb8ecb9a1b1f08a3068269  -\n8\ndifferent\n"
  ],
  [
    "dd creates files of a size",
    "dd if=/dev/zero of=x bs=1M count=3 2>&1 | head -2; wc -c < x; dd if=/dev/urandom of=y bs=512 count=4 status=none; wc -c < y; dd if=/dev/zero bs=10 count=1 2>/dev/null | wc -c; dd if=nope; dd of=z bs=1 count=0 seek=100 status=none; wc -c < z",
    "3+0 records in\n3+0 records out\n3145728\n2048\n10\ndd: failed to open 'nope': No such file or directory\n100\n"
  ],
  [
    "dd reads and overwrites parts of files",
    "echo hello | dd bs=1 count=2 2>/dev/null; echo; printf abcdef > f; dd if=f bs=2 skip=1 count=1 status=none; echo; printf XY | dd of=f bs=1 seek=2 conv=notrunc status=none; cat f; printf Z | dd of=f bs=1 seek=2 conv=ucase status=none; echo; cat f; dd if=f count=1x2 status=noxfer bs=2",
    "he\ncd\nabXYef\nabZabZ1+1 records in\n1+1 records out\n"
  ],
  [
    "dd writes bytes into a pipe",
    "dd if=/dev/urandom bs=16 count=1 2>/dev/null | wc -c; dd if=/dev/urandom bs=1K count=2 2>/dev/null > f; wc -c < f",
    "16\n2048\n"
  ],
  [
    "truncate and fallocate set the size of files",
    "truncate -s 10 f; wc -c < f; truncate -s 1K g; wc -c < g; truncate -s +5 f; wc -c < f; truncate -s -14 f; wc -c < f; fallocate -l 1M h; wc -c < h; truncate -c -s 1 no; ls",
    "10\n1024\n15\n1\n1048576\nf\ng\nh\n"
  ],
  ["/dev/null keeps nothing", "echo a > /dev/null; echo b >> /dev/null; wc -c < /dev/null", "0\n"],
  [
    "date writes each of its formats",
    "date -ud @0 +%F; date -u -d @0 --iso-8601=seconds; date -u -d @0 --rfc-3339=seconds; date -u -d @0 -Iseconds; date -u -d @0 -I; date -u -d @86400 +%s; date -u -R -d @0; date -u -d @1.5 +%s.%3N; TZ=America/New_York date -d @0 +%H; TZ=America/New_York date -d '2024-07-01 12:00' +%s; date -u -d @1700000000 '+%Y%m%d-%H%M%S %j %a %b %s %u %y %Z %z'",
    "1970-01-01\n1970-01-01T00:00:00+00:00\n1970-01-01 00:00:00+00:00\n1970-01-01T00:00:00+00:00\n1970-01-01\n86400\nThu, 01 Jan 1970 00:00:00 +0000\n1.500\n19\n1719849600\n20231114-221320 318 Tue Nov 1700000000 2 23 UTC +0000\n"
  ],
  [
    "date reads a text",
    "for d in '2024-02-29 +1 day' '2024-02-29 + 1 year' '2024-01-31 1 day ago' '2024-01-15 10:00:00 + 2 hours' '2024-01-15T10:00:00Z' '2024-01-15T10:00:00+02:00' 'Jan 5 2024' '5 Jan 2024 3pm' '5 Jan 2024 3:30pm' 'Tue Nov 14 22:13:20 UTC 2023' '20240131' '1/31/2024 -2 weeks' '2024-03-01 12:00 yesterday' '2024-13-01' 'nonsense' '2024-01-31 next month' 'Mon, 15 Jan 2024 10:00:00 GMT' '2024-01-15 10:00:00.250'; do date -u -d \"$d\" '+%F %T'; done 2>&1",
    "2024-03-01 00:00:00\n2025-03-01 00:00:00\n2024-01-30 00:00:00\n2024-01-15 09:00:00\n2024-01-15 10:00:00\n2024-01-15 08:00:00\n2024-01-05 00:00:00\n2024-01-05 15:00:00\n2024-01-05 15:30:00\n2023-11-14 22:13:20\n2024-01-31 00:00:00\n2024-01-17 00:00:00\n2024-02-29 12:00:00\ndate: invalid date '2024-13-01'\ndate: invalid date 'nonsense'\n2024-03-02 00:00:00\n2024-01-15 10:00:00\n2024-01-15 10:00:00\n"
  ],
  [
    "touch sets a time that date -r reads",
    "touch -d @5 f; date -u -r f +%s; touch -t 202401020304.05 g; date -u -r g '+%F %T'; touch -r f g; date -r g +%s; touch -c no; touch a/b; touch -d 2024-01-01 f; date -r f +%s; [ g -ot f ] && echo older; touch -d 'what' h; ls",
    "5\n2024-01-02 03:04:05\n5\ntouch: cannot touch 'a/b': No such file or directory\n1704067200\nolder\ntouch: invalid date format 'what'\nf\ng\n"
  ],
  [
    "ls lists several files and directories",
    "touch a.pt b.pt c.pt; mkdir d; touch d/x; ls *.pt | wc -l; ls a.pt d; ls d a.pt; ls -1 b.pt a.pt; ls nope d 2>&1 >/dev/null; ls nope/ 2>&1; echo $?; ls d/; ls -l a.pt b.pt | wc -l; ls -A | wc -l; ls -a d",
    "3\na.pt\n\nd:\nx\na.pt\n\nd:\nx\na.pt\nb.pt\nls: cannot access 'nope': No such file or directory\nls: cannot access 'nope/': No such file or directory\n2\nx\n2\n4\n.\n..\nx\n"
  ],
  [
    "ls sorts by time and by size",
    "touch -d @3 a; touch -d @1 b; touch -d @2 c; ls -t; ls -tr; ls -t * | head -1; ls -rt * | head -1; ls -t1 c b a | tail -n +2; printf 333 > b; printf 22 > c; ls -S; ls -Sr a b c; for i in 1 2 3 10; do touch -d @$i ckpt-$i.pt; done; ls -t ckpt-*.pt | tail -n +3 | xargs rm; ls",
    "a\nc\nb\nb\nc\na\na\nb\nc\nb\nb\nc\na\na\nc\nb\na\nb\nc\nckpt-10.pt\nckpt-3.pt\n"
  ],
  [
    "ls -l shows modes, sizes and times",
    "umask 022; printf abc > f; touch -d @5 f; chmod 750 f; mkdir d; touch -d @0 d/a d/b; mkdir d/s; touch -d @86400 d/s; ln -s a d/l; ls -l f; ls -lh f | cut -c1-10; ls -l d | grep -v l$ | grep -v ' l '; ls -ld d | cut -c 1-21; head -c 3000000 /dev/zero > big; ls -lh big | awk '{print $5}'; ls -F; ls -R d",
    "-rwxr-x--- 1 root root 3 Jan  1  1970 f\n-rwxr-x---\ntotal 4\n-rw-r--r-- 1 root root    0 Jan  1  1970 a\n-rw-r--r-- 1 root root    0 Jan  1  1970 b\ndrwxr-xr-x 2 root root 4096 Jan  2  1970 s\ndrwxr-xr-x 3 root roo\n2.9M\nbig\nd/\nf*\nd:\na\nb\nl\ns\n\nd/s:\n"
  ],
  [
    "stat -c fills a format",
    "umask 022; echo hi > f; chmod 644 f; touch -d @5 f; stat -c %Y f; stat -c '%n %s %a %A %F %U:%G %h' f; stat --format=%s f; stat -c '%y|%X' f; stat --printf '%s\\n' f; mkdir d; stat -c '%F %a' d; stat -Lc %s f; ln -s f l; stat -c '%N %F' l; stat -c '%s %n' f nope",
    "5\nf 3 644 -rw-r--r-- regular file root:root 1\n3\n1970-01-01 00:00:05.000000000 +0000|5\n3\ndirectory 755\n3\n'l' -> 'f' symbolic link\n3 f\nstat: cannot statx 'nope': No such file or directory\n",
    1
  ],
  [
    "du sums sizes",
    "mkdir -p d/e; printf '%05000d' 0 > f; cp f d/; cp f d/e/; du -b f; du -sh f; du -h f; du -k f; du -ah f d/f; du nope; du -b d/f f | awk '{s+=$1}END{print s}'; du -cb f d/f | tail -1",
    "5000\tf\n8.0K\tf\n8.0K\tf\n8\tf\n8.0K\tf\n8.0K\td/f\ndu: cannot access 'nope': No such file or directory\n10000\n10000\ttotal\n"
  ],
  [
    "realpath follows links",
    "realpath .; realpath x; mkdir -p d/e; ln -s d l; cd d; realpath ../l/e; realpath --relative-to=.. e; realpath -m a/b/c; realpath a/b/c; realpath -e nope; echo $?",
    "/workspace\n/workspace/x\n/workspace/d/e\nd/e\n/workspace/d/a/b/c\nrealpath: a/b/c: No such file or directory\nrealpath: nope: No such file or directory\n1\n"
  ],
  [
    "sort uses the order of bytes",
    "printf 'b\\nA\\na\\nB\\n' | sort; printf 'b 1\\nA 2\\na 10\\n' | sort -k1,1; printf 'a_b\\na-b\\nab\\n' | sort; printf 'b\\na\\nB\\n' | sort -f; printf 'b\\na\\nB\\n' | sort -r; printf 'a\\nB\\nA\\na\\n' | sort -u; printf 'a\\nA\\nb\\n' | sort -fu; printf '\u00e9\\nz\\n' | sort",
    "A\nB\na\nb\nA 2\na 10\nb 1\na-b\na_b\nab\na\nB\nb\nb\na\nB\nA\nB\na\na\nb\nz\n\u00e9\n"
  ],
  [
    "sort orders by each kind of number",
    "printf '10\\n9\\n-2\\n1.5\\nx\\n' | sort -n; printf '1e3\\n5\\n0.1\\n-2e1\\nx\\n' | sort -g; printf '1K\\n2M\\n512\\n1.5K\\n' | sort -h; printf 'v1.10\\nv1.9\\nv1.9a\\n' | sort -V; printf 'Mar\\nJan\\nx\\n' | sort -M; printf '3\\n1\\n2\\n' | sort -nr -o f; cat f",
    "-2\nx\n1.5\n9\n10\nx\n-2e1\n0.1\n5\n1e3\n512\n1K\n1.5K\n2M\nv1.9\nv1.9a\nv1.10\nx\nJan\nMar\n3\n2\n1\n"
  ],
  [
    "sort orders by keys",
    "printf 'b 2 x\\na 10 y\\nc 2 a\\n' > f; sort -k2 f; sort -k2,2n f; sort -k2,2nr -k3 f; sort -k2n -s f; sort -k3.1,3.1r f; printf 'x,3,a\\ny,1,b\\nz,,c\\n' | sort -t, -k2 -rn; printf 'e,l\\n1,0.5\\n2,0.3\\n' | tail -n +2 | sort -t, -k2 -g | head -1; printf 'a  2\\na 10\\n' | sort -k2b,2; printf 'a  2\\na 10\\n' | sort -k2; printf 'ckpt-10\\nckpt-9\\n' | sort -t- -k2n; sort -u -k2,2n f",
    "a 10 y\nc 2 a\nb 2 x\nb 2 x\nc 2 a\na 10 y\na 10 y\nc 2 a\nb 2 x\nb 2 x\nc 2 a\na 10 y\na 10 y\nb 2 x\nc 2 a\nx,3,a\ny,1,b\nz,,c\n2,0.3\na 10\na  2\na  2\na 10\nckpt-9\nckpt-10\nb 2 x\na 10 y\n"
  ],
  [
    "sort reads other separators, checks, merges and writes to a file",
    "printf 'b\\0a\\0' | sort -z | xargs -0 -n 1; sort -c <<< $'b\\na'; echo $?; sort -C <<< $'b\\na' || echo no; sort nope; echo $?; printf '1\\n3\\n' > a; printf '2\\n' > b; sort -m a b; sort -k0 a 2>/dev/null; echo $?; seq 9 | sort -R | sort -n | tr -d '\\n'; printf 'c\\nb' | sort",
    "a\nb\nsort: -:2: disorder: a\n1\nno\nsort: cannot read: nope: No such file or directory\n2\n1\n2\n3\n2\n123456789b\nc\n"
  ],
  [
    "sed -i keeps a backup with a suffix",
    "echo a > f; sed -i.bak s/a/b/ f; cat f f.bak; sed -i.orig -e s/b/c/ f; cat f f.orig; sed --in-place=.x s/c/d/ f; cat f f.x; sed -n -i~ p f; ls; sed -ibak/* s/d/e/ f 2>/dev/null; printf 'a\\nb\\n' | sed -n 2p; sed -i s/d/e/ f; cat f",
    "b\na\nc\nb\nd\nc\nf\nf.bak\nf.orig\nf.x\nf~\nb\ne\n"
  ],
  [
    "jq unique sorts",
    "echo '[3,1,2,1]' | jq -c unique; echo '[3,1,1]' | jq -c 'unique|length, \"not unique\", unique_by(-.)'; echo '{\"unique\":[2,1,2]}' | jq -c --arg unique x '.unique|unique,$unique'; echo '[\"b\",\"a\"]' | jq -r 'unique[]'",
    '[1,2,3]\n2\n"not unique"\n[3,1]\n[1,2]\n"x"\na\nb\n'
  ],
  [
    "awk writes to files of several names",
    'seq 3 | awk \'{print > "out" $1}\'; ls out*; cat out2; echo \'a b\' | awk \'{print $2 > $1".txt"} END {printf "%s\\n", "x" >> "l" "og"; if (2 > 1 ) print "more"}\'; cat a.txt log',
    "out1\nout2\nout3\n2\nmore\nb\nx\n"
  ],
  [
    "awk calculates powers and writes to devices",
    'echo \'3 4\' | awk \'{print $1^2, $NF^2, 2^$1, -$1^2, "$1^2"}\'; awk \'BEGIN{print "e" > "/dev/stderr"; print "f" > "/dev/stderr"}\'; awk \'BEGIN{print "o" > "/dev/stdout"}\'; echo 5 | awk \'{$1^=2; print}\'; echo a | tee /dev/stderr | wc -c; echo x > /dev/stderr; echo y >> /dev/stderr; { echo z > /dev/stderr; } 2> f; cat f',
    "9 16 8 -9 $1^2\ne\nf\no\n25\na\n2\nx\ny\nz\n"
  ],
  [
    "tr reads octal codes",
    "printf 'a\\0b\\0' | tr '\\0' '\\n'; printf 'a\\0' | tr -d '\\000' | wc -c; echo a | tr a '\\142'; echo 'a\\b' | tr '\\\\' /; echo 'a\\b' | tr '\\134' /",
    "a\nb\n1\nb\na/b\na/b\n"
  ],
  [
    "paste joins the lines of its stdin",
    "seq 3 | paste -sd,; seq 3 | paste -s -d+ -; seq 4 | paste -d' ' - -; seq 3 | paste -s; seq 2 | paste -sd '\\n'; seq 2 > f; paste -d: f f",
    "1,2,3\n1+2+3\n1 2\n3 4\n1\t2\t3\n1\n2\n1:1\n2:2\n"
  ],
  [
    "seq -f fills a format",
    "seq -f 'x%02g' 2; seq -f %.2f 0 0.5 1; seq -f \"%03g\" -s, 8 10; seq --format=%.1f --separator=' ' 2; seq 5 -2 1; seq -w 8 10; seq --equal-width 9 10",
    "x01\nx02\n0.00\n0.50\n1.00\n008,009,010\n1.0 2.0\n5\n3\n1\n08\n09\n10\n09\n10\n"
  ],
  [
    "xargs splits by line, word and item",
    "printf 'a b\\nc\\n' | xargs -I{} echo '<{}>'; printf '  a  b\\n\\nc\\n' | xargs -I {} echo '<{}>' {}; seq 4 | xargs -n2; seq 4 | xargs -n 3 echo x; printf 'a\\0b c\\0' | xargs -0 -n1 echo; echo | xargs -r echo no; xargs echo none < /dev/null; echo \"a 'b c' \\\"d e\\\" f\\\\ g\" | xargs -n1; printf '1 2\\n3\\n' | xargs -L1 echo; printf 'a,b' | xargs -d, echo; printf 'a b\\nc\\n' | xargs -d '\\n' -n1 echo; printf 'A=1\\n# c\\nB=\"x y\"\\n' > .env; grep -v '^#' .env | xargs; seq 2 | xargs -i echo n{}; seq 12000 | xargs | wc -w",
    "<a b>\n<c>\n<a  b> a  b\n<c> c\n1 2\n3 4\nx 1 2 3\nx 4\na\nb c\nnone\na\nb c\nd e\nf g\n1 2\n3\na b\na b\nc\nA=1 B=x y\nn1\nn2\n12000\n"
  ],
  [
    "xargs reports failures in its exit code",
    "seq 2 | xargs -n1 bash -c 'echo $0; exit 3'; echo $?; seq 3 | xargs -n1 bash -c 'echo $0; exit 255' 2>/dev/null; echo $?; echo \"it's\" | xargs; echo $?; echo a | xargs -t echo 2>/dev/null; seq 2 | xargs -n x 2>/dev/null; echo $?; touch a b; ls | xargs rm; ls | wc -l",
    "1\n2\n123\n1\n124\nxargs: unmatched single quote; by default quotes are special to xargs unless you use the -0 option\n1\na\n1\n0\n"
  ],
  [
    "env and printenv set and show variables",
    "env A=1 bash -c 'echo $A'; env -i X=1 bash -c 'echo \"$X[$HOME]\"' 2>/dev/null; env A='x y' printenv A; export LR=0.1; env -u LR bash -c 'echo [$LR]'; env -u LR printenv LR; env A=2 B=3 sh -c 'echo $A$B'; export B=5; env bash -c 'echo $B'; N=1; env | grep -c '^N='; printenv N; env -i A=1 | cat; echo in | env cat; env A=1 nope 2>/dev/null; echo $?; env A=1 env B=2 bash -c 'echo $A$B$LR'",
    "1\n1[]\nx y\n[]\n23\n5\n0\nA=1\nin\n127\n120.1\n"
  ],
  [
    "od shows each of its types",
    "echo abc | od -An -tx1; echo abc | od -c; echo ab | od -A d -t x1; echo ab | od -An -t u1; echo abcdefg | od -An -tx4; echo abcdefghijklmnop | od -tx2 -Ax; od -An -N2 -tu1 <<< abc; echo abc | od -x; echo ab | od; echo abcdefghijk | od -An -td8; head -c 64 /dev/zero | od -tx1; echo 'a b' | od -t x1 -c; echo abcdef | od -j2 -N2 -c; [ $(od -An -N4 -tu4 /dev/urandom) -ge 0 ] && echo number; echo abcd | od -An -tx1 -w2; echo \u00e9 | od -b",
    " 61 62 63 0a\n0000000   a   b   c  \\n\n0000004\n0000000 61 62 0a\n0000003\n  97  98  10\n 64636261 0a676665\n000000 6261 6463 6665 6867 6a69 6c6b 6e6d 706f\n000010 000a\n000011\n  97  98\n0000000 6261 0a63\n0000004\n0000000 061141 000012\n0000003\n  7523094288207667809            174811753\n0000000 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00\n*\n0000100\n0000000  61  20  62  0a\n          a       b  \\n\n0000004\n0000002   c   d\n0000004\nnumber\n 61 62\n 63 64\n 0a\n0000000 303 251 012\n0000003\n"
  ],
  [
    "xxd and hexdump show bytes",
    "echo 'hello wide world of bytes' > f; xxd f; xxd -p f; xxd -p f | xxd -r -p; xxd f | xxd -r; echo abc | xxd -g1; xxd -l 4 -s 2 f; echo abc | xxd -u -c 2; xxd -p -c 0 f; hexdump -C f; hexdump f; head -c 64 /dev/zero | hexdump -C; hexdump -C -n 4 -s 2 f; head -c 6 /dev/urandom | xxd -p | wc -c",
    "00000000: 6865 6c6c 6f20 7769 6465 2077 6f72 6c64  hello wide world\n00000010: 206f 6620 6279 7465 730a                  of bytes.\n68656c6c6f207769646520776f726c64206f662062797465730a\nhello wide world of bytes\nhello wide world of bytes\n00000000: 61 62 63 0a                                      abc.\n00000002: 6c6c 6f20                                llo \n00000000: 6162  ab\n00000002: 630A  c.\n68656c6c6f207769646520776f726c64206f662062797465730a\n00000000  68 65 6c 6c 6f 20 77 69  64 65 20 77 6f 72 6c 64  |hello wide world|\n00000010  20 6f 66 20 62 79 74 65  73 0a                    | of bytes.|\n0000001a\n0000000 6568 6c6c 206f 6977 6564 7720 726f 646c\n0000010 6f20 2066 7962 6574 0a73               \n000001a\n00000000  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00  |................|\n*\n00000040\n00000002  6c 6c 6f 20                                       |llo |\n00000006\n13\n"
  ],
  [
    "bash -s runs its stdin",
    "echo 'echo hi $1; exit 3' | bash -s x; echo $?; echo 'echo $# $2' | bash -s -- a b; printf 'false\\necho no\\n' | bash -es; echo $?; bash -s <<< 'echo $0'",
    "hi x\n3\n2 b\n1\nbash\n"
  ],
  [
    "cut prints a line without the delimiter whole",
    "printf 'a:b:c\\nabc\\n' > f; cut -d: -f2,3 f; cut -sd: -f2 f; echo a,b,c,d | cut -d, -f2- --output-delimiter=:; echo a,b,c | cut --complement -d, -f2; echo abcdef | cut -c-2,5-; cut -f1 nope; echo é,b | cut -d, -f1",
    "b:c\nabc\nb\nb:c:d\na,c\nabef\ncut: nope: No such file or directory\né\n"
  ],
  [
    "grep -o skips empty matches, and grep reads GNU's basic patterns",
    "echo ckpt-100.pt | grep -o '[0-9]*'; echo a1b22 | grep -on '[0-9]*'; echo abc | grep -o '.*'; echo loss 0.12 | grep -oE '[0-9.]*'; echo a1b22 | grep -o '[0-9]\\+'; echo color | grep -o 'colou\\?r'; echo 'a\\+' | grep -F 'a\\+'; echo a+b | grep 'a+'",
    "100\n1:1\n1:22\nabc\n0.12\n1\n22\ncolor\na\\+\na+b\n"
  ],
  [
    "awk compares within parentheses, keeps texts as they are and reads separators of -v",
    'echo 5 | awk -v gradient_accumulation_steps=3 \'{ print ($1 > gradient_accumulation_steps ? "hi" : "lo") }\'; echo 1 | awk \'{ print "loss > " $1 " ok; next" }\'; echo a b | awk -v OFS=, \'{print $1,$2}\'; echo a:b | awk -vFS=: -v ORS=\'|\' \'{print $2}\'; echo a/b | awk \'/"|\\// { n = split($0, p, /\\//); print n / 2, p[2] > "o" n ".txt" }\'; cat o2.txt',
    "hi\nloss > 1 ok; next\na,b\nb|1 b\n"
  ],
  [
    "sed -u and -s give the output of sed",
    "seq 2 | sed -u 's/^/[r0] /' | tee log; echo a > f; sed -si s/a/b/ f; cat f; sed --unbuffered s/b/c/ f",
    "[r0] 1\n[r0] 2\nb\nc\n"
  ],
  [
    "uniq counts in seven columns, timeout returns the signal, jq writes CSV",
    `printf 'a\\na\\nb\\n' | uniq -c; timeout --preserve-status 1 sleep 2; echo $?; echo '["a",1,"b\\"c",null,true]' | jq -r @csv`,
    '      2 a\n      1 b\n143\n"a",1,"b""c",,true\n'
  ]
]
