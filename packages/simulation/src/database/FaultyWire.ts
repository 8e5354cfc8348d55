/**
 * Applies the faults of the database where a process's frames pass: late, refused, or with the connection lost before or
 * after the statement ran. Real codes go through the real parser, real transactions abort, real connections are replaced.
 */
import type { Gate } from "@sluice/server/database/PgliteWire"
import { message } from "@sluice/server/database/PgliteFrames"
import type { Duplex } from "node:stream"
import type { Driver } from "../driver/Driver.ts"
import type { Process } from "../driver/Process.ts"
import type { DatabaseFaults } from "../faults/DatabaseFaults.ts"

export const faultyGate = (driver: Driver, process: Process, faults: DatabaseFaults, count: () => void): Gate => {
  const lines = new WeakMap<Duplex, Line>()
  return (wire, batch, pass) => {
    count()
    let line = lines.get(wire)
    if (line === undefined) lines.set(wire, (line = { statements: new Map(), late: 0 }))
    const text = textOf(batch, line.statements)
    faults.armed = process.serving
    const fault = text === undefined ? undefined : faults.decide(text)
    // What follows a late batch on its wire stays behind it.
    if (fault?._tag === "Delay" || line.late > 0) return later(driver, process, line, fault, () => pass(batch))
    if (fault === undefined) return pass(batch)
    switch (fault._tag) {
      case "Error":
        return pass(
          message("Q", `${endOf(text)}do $$ begin raise exception 'injected' using errcode = '${fault.code}'; end $$`)
        )
      case "DropAfter":
        wire.removeAllListeners("data")
        pass(batch)
        return void wire.destroy(LOST())
      case "DropBefore":
        return void wire.destroy(LOST())
    }
  }
}

interface Line {
  /** Texts of prepared statements by name. */
  readonly statements: Map<string, string>
  late: number
}

const LOST = () => Object.assign(new Error("the connection was lost"), { code: "ECONNRESET" })

const later = (
  driver: Driver,
  process: Process,
  line: Line & { until?: number },
  fault: { readonly _tag: string; readonly ms?: number } | undefined,
  pass: () => void
): void => {
  const at = Math.max(line.until ?? 0, driver.now + (fault?.ms ?? 0))
  line.until = at
  line.late++
  driver.at(
    at,
    () => {
      line.late--
      pass()
    },
    process.alive
  )
}

/** A commit that fails has ended its transaction. */
const endOf = (text: string | undefined): string => (/^\s*commit\b/i.test(text ?? "") ? "rollback; " : "")

/** The SQL that a batch runs, where it can be told. */
const textOf = (batch: Buffer, statements: Map<string, string>): string | undefined => {
  let found: string | undefined
  for (let at = 0; at < batch.length; at += 1 + batch.readInt32BE(at + 1)) {
    const type = String.fromCharCode(batch[at]!)
    if (type === "Q") found ??= zeroEnded(batch, at + 5)
    else if (type === "P") {
      const name = zeroEnded(batch, at + 5)
      const text = zeroEnded(batch, at + 6 + Buffer.byteLength(name))
      statements.set(name, text)
      found ??= text
    } else if (type === "B") {
      const portal = zeroEnded(batch, at + 5)
      found ??= statements.get(zeroEnded(batch, at + 6 + Buffer.byteLength(portal)))
    }
  }
  return found
}

const zeroEnded = (bytes: Buffer, from: number): string => bytes.toString("utf8", from, bytes.indexOf(0, from))
