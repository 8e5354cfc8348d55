/** Wires of the embedded database, as its client uses them. */
import { once } from "node:events"
import { expect, test, vi } from "vitest"
import { openEmpty } from "../../src/database/Database.ts"
import { message } from "../../src/database/PgliteFrames.ts"
import { makePgliteStream } from "../../src/database/PgliteStream.ts"

const STARTUP = Buffer.from([0, 0, 0, 8, 0, 3, 0, 0])
const prepared = (name: string) =>
  Buffer.concat([message("P", Buffer.from(`${name}\0select 1\0\0\0`, "latin1")), message("S")])

test("a query after a stop never reaches the database, so that the database can close", async () => {
  const db = await openEmpty()
  const { stop, stream } = makePgliteStream(db)
  const wires = [stream(), stream(), stream()]
  for (const wire of wires) {
    wire.write(STARTUP)
    await once(wire, "data")
    wire.write(prepared(`s${wires.indexOf(wire)}`))
    await once(wire, "data")
  }
  const asked = vi.spyOn(db, "execProtocolRawStream")
  // A closed wire closes its statements.
  for (const wire of wires) wire.destroy()
  await stop()
  const before = asked.mock.calls.length
  expect(before).toBe(wires.length)
  expect((await db.query("select name from pg_prepared_statements")).rows).toEqual([])
  const late = stream()
  late.on("error", () => {})
  late.write(STARTUP)
  late.write(prepared("late"))
  late.destroy()
  await new Promise((resume) => setTimeout(resume, 20))
  expect(asked.mock.calls.length).toBe(before)
  await db.close()
})
