/** Directories that the server creates, and paths where it can't create one. */
import { temporaryDirectory } from "@sluice/testing/servers/ServerProcess"
import { isFile, makeDirectory } from "@sluice/server/database/Directory"
import { statSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "vitest"

it("directories are created with their parents, private to the owner, and once", () => {
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

it("directories that can't be created are refused at once", () => {
  expect(() => makeDirectory("/proc/sluice/data")).toThrow("ENOENT")
})

it("directories without read permission are refused with the message of their creator", () => {
  const { path, remove } = temporaryDirectory()
  // Even root can't read this path.
  const endless = join(path, "endless")
  symlinkSync(endless, endless)
  const tooLong = join(path, "x".repeat(300))
  for (const [place, words] of [
    [endless, /^EEXIST: .*, mkdir/],
    [tooLong, /^ENAMETOOLONG: .*, mkdir/]
  ] as const) {
    expect(() => makeDirectory(place)).toThrow(words)
    expect(isFile(place)).toBe(false)
  }
  remove()
})
