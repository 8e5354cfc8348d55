/** diff writes what GNU's diff writes: each expectation was taken from it. */
import { describe, expect, it } from "@effect/vitest"
import { asBash, outcome } from "./support/Outcomes.ts"

describe("diff of lines", () => {
  asBash([
    [
      "printf 'a\\nb\\nc\\nd\\n' > x; printf 'a\\nB\\nc\\nd\\ne\\n' > y; diff x y; echo $?; diff x x && echo same; diff -q x y; diff -s x x; diff -i x y; diff no x; diff x - < y; diff x /dev/null",
      "2c2\n< b\n---\n> B\n4a5\n> e\n1\nsame\nFiles x and y differ\nFiles x and x are identical\n4a5\n> e\ndiff: no: No such file or directory\n2c2\n< b\n---\n> B\n4a5\n> e\n1,4d0\n< a\n< b\n< c\n< d\n",
      1
    ],
    [
      "seq 40 > a; seq 40 | sed '3s/.*/three/;20d;38,39d' > b; echo 41 >> b; diff a b; diff <(seq 10) <(seq 3 12); printf z > n; printf 'z\\n' | diff n -; diff a b | grep -c '^[<>]'",
      "3c3\n< 3\n---\n> three\n20d19\n< 20\n38,39d36\n< 38\n< 39\n40a38\n> 41\n1,2d0\n< 1\n< 2\n10a9,10\n> 11\n> 12\n1c1\n< z\n\\ No newline at end of file\n---\n> z\n6\n"
    ],
    [
      "diff -b <(echo a  b) <(echo 'a b ') && diff -w <(echo a b) <(echo ab) && diff -B <(printf 'a\\n\\nb\\n') <(printf 'a\\nb\\n') && diff -Z <(echo 'a ') <(echo a) && diff --strip-trailing-cr <(printf 'a\\r\\n') <(echo a) && echo same; if ! diff -q <(echo 1) <(echo 2) > /dev/null; then echo differs; fi; printf '\\0a' > b1; printf '\\0b' > b2; diff b1 b2",
      "same\ndiffers\nBinary files b1 and b2 differ\n",
      1
    ]
  ])
})

describe("diff with lines of context", () => {
  asBash([
    [
      "seq 40 > a; seq 40 | sed '3s/.*/three/;20d;38,39d' > b; diff -u a b | tail -n +3; diff -L old --label new -U0 a b; diff --unified=1 a b | tail -n +3 | head -6; diff -u1 a b | tail -n +3 | wc -l",
      "@@ -1,6 +1,6 @@\n 1\n 2\n-3\n+three\n 4\n 5\n 6\n@@ -17,7 +17,6 @@\n 17\n 18\n 19\n-20\n 21\n 22\n 23\n@@ -35,6 +34,4 @@\n 35\n 36\n 37\n-38\n-39\n 40\n--- old\n+++ new\n@@ -3 +3 @@\n-3\n+three\n@@ -20 +19,0 @@\n-20\n@@ -38,2 +36,0 @@\n-38\n-39\n@@ -2,3 +2,3 @@\n 2\n-3\n+three\n 4\n@@ -19,3 +19,2 @@\n14\n"
    ],
    [
      "seq 3 > a; diff -u /dev/null a | tail -n +3; diff -u a /dev/null | tail -n +3; printf q > n1; printf r > n2; diff -u n1 n2 | tail -n +3",
      "@@ -0,0 +1,3 @@\n+1\n+2\n+3\n@@ -1,3 +0,0 @@\n-1\n-2\n-3\n@@ -1 +1 @@\n-q\n\\ No newline at end of file\n+r\n\\ No newline at end of file\n"
    ]
  ])
})

describe("diff of directories", () => {
  asBash([
    [
      "mkdir -p d/s d/sub e/s e/y2; echo 1 > d/x; echo 1 > e/x; echo 2 > e/y; echo 1 > d/s/f; echo 2 > e/s/f; diff d e; diff -r d e; diff -rq d e; diff -rN d e; diff -r -x s -x 'y*' d e; diff -ru d e | grep -v '^[-+][-+]'; echo 2 > x; diff d x; diff x e",
      "Common subdirectories: d/s and e/s\nOnly in d: sub\nOnly in e: y\nOnly in e: y2\ndiff -r d/s/f e/s/f\n1c1\n< 1\n---\n> 2\nOnly in d: sub\nOnly in e: y\nOnly in e: y2\nFiles d/s/f and e/s/f differ\nOnly in d: sub\nOnly in e: y\nOnly in e: y2\ndiff -rN d/s/f e/s/f\n1c1\n< 1\n---\n> 2\ndiff -rN d/y e/y\n0a1\n> 2\nOnly in d: sub\ndiff -ru d/s/f e/s/f\n@@ -1 +1 @@\n-1\n+2\nOnly in d: sub\nOnly in e: y\nOnly in e: y2\n1c1\n< 1\n---\n> 2\n1c1\n< 2\n---\n> 1\n",
      1
    ]
  ])
})

it("a script that runs diff without end exceeds the limit on its work", async () => {
  const [output, code] = await outcome("seq 300 > a; seq 400 700 > b; while true; do diff a b > c; echo again; done")
  expect(output.split("again").length).toBeGreaterThan(20)
  expect(output.split("again").length).toBeLessThan(200)
  expect(code).not.toBe(0)
})
