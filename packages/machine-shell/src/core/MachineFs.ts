/**
 * The machine's disk: in memory, bounded, with the machine's time on every file. Writes to `/dev/console` are the
 * command's output. It never touches the host's files.
 */
import { InMemoryFs } from "just-bash"
import type { FileContent } from "just-bash"
import type { Console } from "./Console.ts"
import { DEVICES, endless, ENDLESS_BYTES, isEndless } from "./Devices.ts"
import type { LocalClock } from "./LocalClock.ts"
import type { VolumeEntry } from "../Shell.ts"

export const CONSOLE = "/dev/console"
/** Of commands that open it by name, as `tee` and `awk` do; a redirection does not come here. */
const STDERR = "/dev/stderr"
export const WORKSPACE = "/workspace"
export const DISK_LIMIT_BYTES = 128 * 1024 * 1024

type WriteOptions = Parameters<InMemoryFs["writeFileSync"]>[2]
type WriteMetadata = Parameters<InMemoryFs["writeFileSync"]>[3]

export class MachineFs extends InMemoryFs {
  readonly #clock: LocalClock
  readonly #console: Console
  readonly #random: () => number
  readonly #bornAt: Date
  /** Files that were opened: what is written to one whose directory went meanwhile is lost, as on a disk. */
  readonly #opened = new Set<string>()
  #booted = false

  constructor(clock: LocalClock, console: Console, random: () => number) {
    super(undefined, { maxTotalBytes: DISK_LIMIT_BYTES })
    this.#clock = clock
    this.#console = console
    this.#random = random
    this.#bornAt = new Date(clock.now)
    this.#stamp("/")
    for (const directory of DIRECTORIES) this.mkdirSync(directory, { recursive: true })
    void super.symlink("/usr/bin", "/bin")
    for (const device of [CONSOLE, ...DEVICES]) this.writeFileSync(device, "")
    this.writeFileSync("/etc/os-release", OS_RELEASE)
  }

  /** From now on files are dated; before, nothing has to be. */
  booted(): void {
    this.#booted = true
  }

  override writeFileSync(path: string, content: FileContent, options?: WriteOptions, metadata?: WriteMetadata): void {
    if (!this.#booted) {
      // `/bin` is a link to `/usr/bin`; the text of a built-in command's file is made only when someone reads it.
      if (!path.startsWith("/bin/")) this.writeFileLazy(path, () => content, { mtime: this.#bornAt, mode: 0o755 })
      return
    }
    super.writeFileSync(path, content, options, { mtime: new Date(this.#clock.now), ...metadata })
  }

  override async writeFile(path: string, content: FileContent, options?: WriteOptions): Promise<void> {
    if (path === CONSOLE || path === STDERR) return this.#show(content, options)
    if (keepsNothing(path)) return
    const place = await this.#writable(path, content)
    if (place === undefined) return
    const before = await super.stat(place).catch(() => undefined)
    await super.writeFile(place, content, options)
    // What is written anew keeps its mode.
    if (before !== undefined) await super.chmod(place, before.mode & 0o7777)
  }

  override async appendFile(path: string, content: FileContent, options?: WriteOptions): Promise<void> {
    if (path === CONSOLE || path === STDERR) return this.#show(content, options)
    if (keepsNothing(path)) return
    const place = await this.#writable(path, content)
    if (place === undefined || (content.length === 0 && (await super.exists(place)))) return
    await super.appendFile(place, content, options)
    this.#stamp(place)
  }

  override async readFileBuffer(path: string): Promise<Uint8Array> {
    return isEndless(path) ? endless(path, ENDLESS_BYTES, this.#random) : super.readFileBuffer(path)
  }

  override mkdirSync(path: string, options?: { recursive?: boolean }): void {
    super.mkdirSync(path, options)
    this.#stamp(path)
  }

  override async mkdir(path: string, options?: { recursive?: boolean }): Promise<void> {
    if (options?.recursive === true && !(await super.exists(parentOf(path)))) await this.mkdir(parentOf(path), options)
    const place = await this.#placed(path).catch((error: Error) => {
      throw new Error(`ENOENT: ${error.message}`)
    })
    return super.mkdir(place, options)
  }

  override async symlink(target: string, path: string): Promise<void> {
    return super.symlink(target, await this.#placed(path))
  }

  override async link(existing: string, path: string): Promise<void> {
    return super.link(existing, await this.#placed(path))
  }

  override async mv(from: string, to: string): Promise<void> {
    return super.mv(from, await this.#placed(to))
  }

  override async cp(from: string, to: string, options?: { recursive?: boolean }): Promise<void> {
    return super.cp(from, await this.#followed(to), options)
  }

  override async lstat(path: string): ReturnType<InMemoryFs["lstat"]> {
    const stat = await super.lstat(path)
    return stat.isSymbolicLink ? { ...stat, mtime: this.#bornAt } : stat
  }

  /** Where an entry of this name lies: its directory, which must be there, with links followed. The base class makes it. */
  async #placed(path: string): Promise<string> {
    const directory = await super.realpath(parentOf(path)).catch(() => {
      throw new Error(`${REFUSED}'${path}': No such file or directory`)
    })
    if (!(await super.stat(directory)).isDirectory) throw new Error(`${REFUSED}'${path}': Not a directory`)
    return this.resolvePath(directory, path.slice(parentOf(path).length).replace(/^\/+/, ""))
  }

  /** The same, where the entry itself may be a link. */
  #followed(path: string): Promise<string> {
    return super.realpath(path).catch(() => this.#placed(path))
  }

  async #writable(path: string, content: FileContent): Promise<string | undefined> {
    if (content.length === 0) this.#opened.add(path)
    return this.#followed(path).catch((error: unknown) => {
      if (content.length > 0 && this.#opened.has(path)) return undefined
      throw error
    })
  }

  async #show(content: FileContent, options?: WriteOptions): Promise<void> {
    this.#console.write(this.#clock.now, content, encodingOf(options))
    if (content.length > 0) for (const copy of this.#console.copies.paths) await this.appendFile(copy, content, options)
  }

  /** `utimes` of the base class acts before it returns its promise; a path that cannot be stamped keeps its time. */
  #stamp(path: string): void {
    const now = new Date(this.#clock.now)
    this.utimes(path, now, now).catch(() => undefined)
  }
}

/** What the disk says where it refuses a write; undefined of any other error. */
export const refusalOf = (error: unknown): string | undefined => {
  const message = error instanceof Error ? error.message : ""
  return message.startsWith("ENOSPC") ? "No space left on device" : message.startsWith(REFUSED) ? message : undefined
}
const REFUSED = "cannot create "

/** Puts a volume's entries under `/workspace`. */
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

/** Everything under `/workspace`, directories before what is in them. */
export const contents = async (fs: MachineFs): Promise<ReadonlyArray<VolumeEntry>> => {
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

/** What the interpreter's own files lie in, and what scripts expect. */
const DIRECTORIES = ["/usr/bin", "/dev/fd", "/proc/self/fd", "/etc", "/root", "/tmp", "/var/tmp", WORKSPACE]
const OS_RELEASE = `PRETTY_NAME="Ubuntu 24.04 LTS (simulated)"\nNAME="Ubuntu"\nVERSION_ID="24.04"\nID=ubuntu\n`

const keepsNothing = (path: string): boolean => path === "/dev/null" || isEndless(path)

const parentOf = (path: string): string => {
  let end = path.length
  while (path[end - 1] === "/") end -= 1
  return path.slice(0, Math.max(1, path.lastIndexOf("/", end - 1)))
}

const encodingOf = (options: WriteOptions): "bytes" | "text" => {
  const encoding = typeof options === "string" ? options : options?.encoding
  return encoding === "binary" || encoding === "latin1" ? "bytes" : "text"
}
