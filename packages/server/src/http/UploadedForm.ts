/**
 * A form with files (`multipart/form-data`): files go to disk as they come and are gone with the scope, fields are short
 * unless one may hold a file in base64, and everything is counted. What still comes of a form that was refused is thrown
 * away, so that the caller reads why.
 */
import * as NodeMultipart from "@effect/platform-node/NodeMultipart"
import { Deferred, Effect, Exit, FileSystem } from "effect"
import type { Path, Scope } from "effect"
import * as IncomingMessageLimits from "effect/http/HttpIncomingMessage"
import * as Multipart from "effect/http/Multipart"
import { openAsBlob } from "node:fs"
import type { IncomingMessage } from "node:http"
import { type Readable, Transform } from "node:stream"
import { bearerOf } from "./Bearer.ts"
import { BodyMemoryBudget, FileSpaceBudget, type BodyReservation, type ByteBudget } from "./BodyMemoryBudget.ts"
import { FormCrowdedOut, type FormFailure, FormInvalid, FormTooLarge } from "./FormErrors.ts"
import { notSpooled, Spool } from "./Spool.ts"

export interface UploadedFile {
  /** Read from disk when it is read. */
  readonly content: Blob
  readonly path: string
  readonly name: string
}

export interface UploadedForm {
  /** By name; lists where a name came more than once. */
  readonly fields: Readonly<Record<string, string | ReadonlyArray<string>>>
  /** The first file of each name. */
  readonly files: ReadonlyMap<string, UploadedFile>
}

const MAX_PARTS = 32
/** The longest prompt, of characters with three bytes each, and some more. */
const MAX_FIELD_BYTES = 131_072
/** The lines above a file are counted with it while it comes. */
const PART_HEAD_BYTES = 16_384
/** Fields and the lines between parts. */
const MARGIN_BYTES = 1_048_576

export interface FormBounds {
  readonly maxFileBytes: number
  /** The field that may have such a file in base64. Fields are held in memory: such a form takes room there, too. */
  readonly longField?: string
}

/** What spooling a form needs. */
export type FormServices = BodyMemoryBudget | FileSpaceBudget | Spool | Path.Path

export const uploadedForm = (
  source: IncomingMessage,
  { longField, maxFileBytes }: FormBounds
): Effect.Effect<UploadedForm, FormFailure, Scope.Scope | FormServices> => {
  const tooLarge = new FormTooLarge({ limitBytes: maxFileBytes })
  const largest = longField === undefined ? maxFileBytes : Math.ceil(maxFileBytes / 3) * 4
  const mostOfPart = largest + PART_HEAD_BYTES
  const most = largest + MARGIN_BYTES
  const said = Number(source.headers["content-length"] ?? most)
  if (!isForm(source)) return Effect.fail(new FormInvalid({ reason: "no_form" }))
  if (said > most) return Effect.andThen(drained(source), Effect.fail(tooLarge))
  const spooled = (bytes: Readable) =>
    NodeMultipart.persisted(bytes, source.headers).pipe(
      Effect.provideServiceEffect(FileSystem.FileSystem, Spool),
      Effect.provideService(Multipart.MaxParts, MAX_PARTS),
      Effect.provideService(Multipart.MaxFieldSize, BigInt(longField === undefined ? MAX_FIELD_BYTES : mostOfPart)),
      Effect.provideService(Multipart.MaxFileSize, BigInt(mostOfPart)),
      Effect.provideService(IncomingMessageLimits.MaxBodySize, BigInt(most)),
      Effect.tapError(({ reason }) =>
        reason._tag === "InternalError"
          ? Effect.flatMap(FileSpaceBudget, (room) => room.complain(notSpooled(reason)))
          : Effect.void
      ),
      Effect.mapError((error): FormFailure => {
        const reason = error.reason._tag
        if (reason === "FileTooLarge" || reason === "BodyTooLarge") return tooLarge
        // What is not the caller's doing is the disk's: it has no room, no file may be opened, it can't be written to.
        if (reason === "InternalError") return new FormCrowdedOut()
        return new FormInvalid({ reason: reason === "Parse" ? "malformed" : "too_much" })
      })
    )
  const rooms = Effect.all(longField === undefined ? [FileSpaceBudget] : [FileSpaceBudget, BodyMemoryBudget])
  return Effect.flatMap(rooms, (rooms) => withRooms(rooms, source, spooled)).pipe(
    Effect.tapError(() => drained(source)),
    Effect.flatMap((parts) => Effect.promise(() => formOf(parts))),
    Effect.filterOrFail(
      ({ fields }) => Object.entries(fields).every(([name, value]) => name === longField || isShort(value)),
      () => new FormInvalid({ reason: "too_much" })
    ),
    Effect.filterOrFail(
      ({ files }) => [...files.values()].every(({ content }) => content.size <= maxFileBytes),
      () => tooLarge
    )
  )
}

/** What comes takes room in each until the scope closes; where one of them has none for it, the form gives way. */
const withRooms = <A, E, R>(
  rooms: ReadonlyArray<ByteBudget>,
  source: IncomingMessage,
  spooled: (bytes: Readable) => Effect.Effect<A, E, R>
) =>
  Effect.suspend(() => {
    const gone = Deferred.makeUnsafe<never, FormCrowdedOut>()
    const evicted = () => Deferred.doneUnsafe(gone, Exit.fail(new FormCrowdedOut()))
    const owner = bearerOf(source) ?? ""
    const guests = rooms.map((room): readonly [ByteBudget, BodyReservation] => [room, { owner, bytes: 0, evicted }])
    const counted = new Transform({
      transform: (chunk: Buffer, _, done) => {
        for (const [room, guest] of guests) room.grow(guest, chunk.length)
        done(null, chunk)
      }
    })
    const leave = Effect.sync(() => {
      counted.destroy()
      for (const [room, guest] of guests) room.leave(guest)
    })
    return Effect.addFinalizer(() => leave).pipe(
      Effect.andThen(Effect.raceFirst(spooled(source.pipe(counted)), Deferred.await(gone))),
      Effect.tap(() => Effect.sync(() => guests.forEach(([room, guest]) => room.settle(guest))))
    )
  })

const isShort = (value: string | ReadonlyArray<string>): boolean =>
  typeof value === "string" ? Buffer.byteLength(value) <= MAX_FIELD_BYTES : value.every(isShort)

/** The line between the parts is named, as short as RFC 2046 wants it. */
export const isForm = (source: IncomingMessage): boolean =>
  /^multipart\/form-data\s*;(?:.*;)?\s*boundary=(?:"[^"]{1,70}"|[^\s;"]{1,70})\s*(?:;|$)/i.test(
    source.headers["content-type"] ?? ""
  )

const drained = (source: IncomingMessage) =>
  Effect.sync(() => {
    source.unpipe()
    source.resume()
  })

const formOf = async (parts: Multipart.Persisted): Promise<UploadedForm> => {
  const fields: Record<string, string | ReadonlyArray<string>> = {}
  const files = new Map<string, UploadedFile>()
  for (const [name, given] of Object.entries(parts)) {
    const values: ReadonlyArray<string | Multipart.PersistedFile> = typeof given === "string" ? [given] : given
    const texts = values.filter((value) => typeof value === "string")
    const file = values.find((value) => typeof value !== "string")
    if (file !== undefined)
      files.set(name, {
        content: await openAsBlob(file.path, { type: file.contentType }),
        path: file.path,
        name: file.name
      })
    if (texts.length > 0)
      Object.defineProperty(fields, name, { value: texts.length === 1 ? texts[0] : texts, enumerable: true })
  }
  return { fields, files }
}
