/** Directories of ours, and places that take none. */
import { temporaryDirectory } from "../../../../test/support/ServerProcess.ts"
import { makeDirectory } from "@sluice/server/database/Directory"
import { statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "vitest"

it("are made with those above them, for nobody else, and once", () => {
  const { path, remove } = temporaryDirectory()
  const deep = join(path, "a", "b", "c")
  makeDirectory(deep)
  makeDirectory(deep)
  for (const made of [join(path, "a"), deep]) expect(statSync(made).mode & 0o777).toBe(0o700)
  writeFileSync(join(deep, "file"), "x")
  expect(() => makeDirectory(join(deep, "file"))).toThrow("EEXIST")
  expect(() => makeDirectory(join(deep, "file", "d"))).toThrow("ENOTDIR")
  remove()
})

it("that can't be are refused at once", () => {
  expect(() => makeDirectory("/proc/sluice/data")).toThrow("ENOENT")
})
