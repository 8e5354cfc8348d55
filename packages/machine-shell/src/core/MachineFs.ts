/**
 * The machine's disk: in memory, bounded, with the machine's time on every file. Writes to `/dev/console` are the
 * command's output. The disk never touches the host's files.
 */
import { InMemoryFs } from "just-bash"
import type { FileContent } from "just-bash"
import type { Console } from "./Console.ts"
import { DEVICES, readEndless, ENDLESS_BYTES, isEndless } from "./Devices.ts"
import type { LocalClock } from "./LocalClock.ts"
import type { VolumeEntry } from "../Shell.ts"

export const CONSOLE = "/dev/console"
/** For commands that open it by name, as `tee` and `awk` do. The interpreter handles redirections to it itself. */
const STDERR = "/dev/stderr"
export const WORKSPACE = "/workspace"
/** The disk is in memory: a higher limit costs memory for each run, a lower one refuses files that scripts write. */
export const MAX_DISK_BYTES = 128 * 1024 * 1024

type WriteOptions = Parameters<InMemoryFs["writeFileSync"]>[2]
type WriteMetadata = Parameters<InMemoryFs["writeFileSync"]>[3]

export class MachineFs extends InMemoryFs {
  readonly #clock: LocalClock
  readonly #console: Console
  readonly #random: () => number
  readonly #createdAt: Date
  /** Paths that were opened. A write to a file whose directory was removed meanwhile is lost, as on a real disk. */
  readonly #opened = new Set<string>()
  #isBooted = false

  constructor(clock: LocalClock, console: Console, random: () => number) {
    super(undefined, { maxTotalBytes: MAX_DISK_BYTES })
    this.#clock = clock
    this.#console = console
    this.#random = random
    this.#createdAt = new Date(clock.now)
    this.#stampTime("/")
    for (const directory of DIRECTORIES) this.mkdirSync(directory, { recursive: true })
    void super.symlink("/usr/bin", "/bin")
    for (const device of [CONSOLE, ...DEVICES]) this.writeFileSync(device, "")
    this.writeFileSync("/etc/os-release", OS_RELEASE)
  }

  /** Ends the boot. A file that is written later gets the time of its write. */
  finishBoot(): void {
    this.#isBooted = true
  }

  override writeFileSync(path: string, content: FileContent, options?: WriteOptions, metadata?: WriteMetadata): void {
    if (!this.#isBooted) {
      // `/bin` is a link to `/usr/bin`. The text of a built-in command's file is made only when the file is read.
      if (!path.startsWith("/bin/")) this.writeFileLazy(path, () => content, { mtime: this.#createdAt, mode: 0o755 })
      return
    }
    super.writeFileSync(path, content, options, { mtime: new Date(this.#clock.now), ...metadata })
  }

  override async writeFile(path: string, content: FileContent, options?: WriteOptions): Promise<void> {
    if (path === CONSOLE || path === STDERR) return this.#writeConsole(content, options)
    if (isDiscarding(path)) return
    const place = await this.#resolveWritable(path, content)
    if (place === undefined) return
    const before = await super.stat(place).catch(() => undefined)
    await super.writeFile(place, content, options)
    // A file that is overwritten keeps its mode.
    if (before !== undefined) await super.chmod(place, before.mode & 0o7777)
  }

  override async appendFile(path: string, content: FileContent, options?: WriteOptions): Promise<void> {
    if (path === CONSOLE || path === STDERR) return this.#writeConsole(content, options)
    if (isDiscarding(path)) return
    const place = await this.#resolveWritable(path, content)
    if (place === undefined || (content.length === 0 && (await super.exists(place)))) return
    await super.appendFile(place, content, options)
    this.#stampTime(place)
  }

  override async readFileBuffer(path: string): Promise<Uint8Array> {
    return isEndless(path) ? readEndless(path, ENDLESS_BYTES, this.#random) : super.readFileBuffer(path)
  }

  override mkdirSync(path: string, options?: { recursive?: boolean }): void {
    super.mkdirSync(path, options)
    this.#stampTime(path)
  }

  override async mkdir(path: string, options?: { recursive?: boolean }): Promise<void> {
    if (options?.recursive === true && !(await super.exists(parentOf(path)))) await this.mkdir(parentOf(path), options)
    const place = await this.#resolveEntry(path).catch((error: Error) => {
      throw new Error(`ENOENT: ${error.message}`)
    })
    return super.mkdir(place, options)
  }

  override async symlink(target: string, path: string): Promise<void> {
    return super.symlink(target, await this.#resolveEntry(path))
  }

  override async link(existing: string, path: string): Promise<void> {
    return super.link(existing, await this.#resolveEntry(path))
  }

  override async mv(from: string, to: string): Promise<void> {
    return super.mv(from, await this.#resolveEntry(to))
  }

  override async cp(from: string, to: string, options?: { recursive?: boolean }): Promise<void> {
    return super.cp(from, await this.#resolveTarget(to), options)
  }

  override async lstat(path: string): ReturnType<InMemoryFs["lstat"]> {
    const stat = await super.lstat(path)
    return stat.isSymbolicLink ? { ...stat, mtime: this.#createdAt } : stat
  }

  /**
   * Returns the path of an entry after the links of its directory are followed. Fails when the directory is missing;
   * the base class would create it.
   */
  async #resolveEntry(path: string): Promise<string> {
    const directory = await super.realpath(parentOf(path)).catch(() => {
      throw new Error(`${REFUSED}'${path}': No such file or directory`)
    })
    if (!(await super.stat(directory)).isDirectory) throw new Error(`${REFUSED}'${path}': Not a directory`)
    return this.resolvePath(directory, path.slice(parentOf(path).length).replace(/^\/+/, ""))
  }

  /** Returns the same path, with a link at the entry itself followed too. */
  #resolveTarget(path: string): Promise<string> {
    return super.realpath(path).catch(() => this.#resolveEntry(path))
  }

  async #resolveWritable(path: string, content: FileContent): Promise<string | undefined> {
    if (content.length === 0) this.#opened.add(path)
    return this.#resolveTarget(path).catch((error: unknown) => {
      if (content.length > 0 && this.#opened.has(path)) return undefined
      throw error
    })
  }

  async #writeConsole(content: FileContent, options?: WriteOptions): Promise<void> {
    this.#console.write(this.#clock.now, content, encodingOf(options))
    if (content.length > 0) for (const copy of this.#console.copies.paths) await this.appendFile(copy, content, options)
  }

  /** `utimes` of the base class acts before it returns its promise. A path that it cannot stamp keeps its time. */
  #stampTime(path: string): void {
    const now = new Date(this.#clock.now)
    this.utimes(path, now, now).catch(() => undefined)
  }
}

/** Returns the message of a write that the disk refused; undefined for any other error. */
export const refusalOf = (error: unknown): string | undefined => {
  const message = error instanceof Error ? error.message : ""
  return message.startsWith("ENOSPC") ? "No space left on device" : message.startsWith(REFUSED) ? message : undefined
}
const REFUSED = "cannot create "

/** Writes a volume's entries under `/workspace`. */
export const mount = async (fs: MachineFs, entries: ReadonlyArray<VolumeEntry>): Promise<void> => {
  for (const entry of entries) {
    const path = `${WORKSPACE}/${entry.path}`
    switch (entry._tag) {
      case "Directory":
        fs.mkdirSync(path, { recursive: true })
        await fs.chmod(path, entry.mode)
        break
      case "File":
        fs.mkdirSync(parentOf(path), { recursive: true })
        fs.writeFileSync(path, entry.bytes, undefined, { mode: entry.mode })
        break
      case "Link":
        fs.mkdirSync(parentOf(path), { recursive: true })
        await fs.symlink(entry.target, path)
    }
  }
}

/** Returns everything under `/workspace`, each directory before its entries. */
export const readWorkspace = async (fs: MachineFs): Promise<ReadonlyArray<VolumeEntry>> => {
  const prefix = `${WORKSPACE}/`
  const entries: Array<VolumeEntry> = []
  for (const full of fs
    .getAllPaths()
    .filter((path) => path.startsWith(prefix))
    .sort()) {
    const path = full.slice(prefix.length)
    const stat = await fs.lstat(full)
    const mode = stat.mode & 0o7777
    if (stat.isSymbolicLink) entries.push({ _tag: "Link", path, target: await fs.readlink(full) })
    else if (stat.isDirectory) entries.push({ _tag: "Directory", path, mode })
    else entries.push({ _tag: "File", path, mode, bytes: await fs.readFileBuffer(full) })
  }
  return entries
}

/** Directories of the interpreter's own files, and those that scripts expect. */
const DIRECTORIES = ["/usr/bin", "/dev/fd", "/proc/self/fd", "/etc", "/root", "/tmp", "/var/tmp", WORKSPACE]
const OS_RELEASE = `PRETTY_NAME="Ubuntu 24.04 LTS (simulated)"\nNAME="Ubuntu"\nVERSION_ID="24.04"\nID=ubuntu\n`

const isDiscarding = (path: string): boolean => path === "/dev/null" || isEndless(path)

const parentOf = (path: string): string => {
  let end = path.length
  while (path[end - 1] === "/") end -= 1
  return path.slice(0, Math.max(1, path.lastIndexOf("/", end - 1)))
}

const encodingOf = (options: WriteOptions): "bytes" | "text" => {
  const encoding = typeof options === "string" ? options : options?.encoding
  return encoding === "binary" || encoding === "latin1" ? "bytes" : "text"
}
