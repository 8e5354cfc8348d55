/**
 * Reads a form with files (`multipart/form-data`). Files are written to disk as they arrive and removed with the scope;
 * fields are short, unless one may hold a file in base64. Every part is bounded. The rest of a refused form is read and
 * discarded, so that the caller can read the error.
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
import { logSpoolFailure, Spool } from "./Spool.ts"

export interface UploadedFile {
  /** Backed by the file: bytes are read from disk on access. */
  readonly content: Blob
  readonly path: string
  readonly name: string
}

export interface UploadedForm {
  /** Values by name; a list if a name is repeated. A field with an empty value counts as not sent, as `null` does in JSON. */
  readonly fields: Readonly<Record<string, string | ReadonlyArray<string>>>
  /** The first file of each name. */
  readonly files: ReadonlyMap<string, UploadedFile>
}

const MAX_PARTS = 32
/** The longest prompt with three bytes per character, plus a margin. */
const MAX_FIELD_BYTES = 131_072
/** The headers of a part, which count with its file while it arrives. */
const PART_HEAD_BYTES = 16_384
/** Bytes for fields and for the boundaries between parts. */
const MARGIN_BYTES = 1_048_576

export interface FormBounds {
  readonly maxFileBytes: number
  /**
   * The name of a field that may hold the file in base64. Fields are held in memory, so such a form also uses the
   * memory budget.
   */
  readonly longField?: string
}

/** The services that reading a form needs. */
export type FormServices = BodyMemoryBudget | FileSpaceBudget | Spool | Path.Path

export const readUploadedForm = (
  source: IncomingMessage,
  { longField, maxFileBytes }: FormBounds
): Effect.Effect<UploadedForm, FormFailure, Scope.Scope | FormServices> => {
  const tooLarge = new FormTooLarge({ limitBytes: maxFileBytes })
  const maxContentBytes = longField === undefined ? maxFileBytes : Math.ceil(maxFileBytes / 3) * 4
  const maxPartBytes = maxContentBytes + PART_HEAD_BYTES
  const maxBytes = maxContentBytes + MARGIN_BYTES
  const declaredBytes = Number(source.headers["content-length"] ?? maxBytes)
  if (!isForm(source)) return Effect.fail(new FormInvalid({ reason: "no_form" }))
  if (declaredBytes > maxBytes) return Effect.andThen(drain(source), Effect.fail(tooLarge))
  const spool = (bytes: Readable) =>
    NodeMultipart.persisted(bytes, source.headers).pipe(
      Effect.provideServiceEffect(FileSystem.FileSystem, Spool),
      Effect.provideService(Multipart.MaxParts, MAX_PARTS),
      Effect.provideService(Multipart.MaxFieldSize, BigInt(longField === undefined ? MAX_FIELD_BYTES : maxPartBytes)),
      Effect.provideService(Multipart.MaxFileSize, BigInt(maxPartBytes)),
      Effect.provideService(IncomingMessageLimits.MaxBodySize, BigInt(maxBytes)),
      Effect.tapError(({ reason }) =>
        reason._tag === "InternalError"
          ? Effect.flatMap(FileSpaceBudget, (budget) => budget.logProblem(logSpoolFailure(reason)))
          : Effect.void
      ),
      Effect.mapError((error): FormFailure => {
        const reason = error.reason._tag
        if (reason === "FileTooLarge" || reason === "BodyTooLarge") return tooLarge
        // The other failures come from the disk: it is full, read-only, or out of file handles.
        if (reason === "InternalError") return new FormCrowdedOut()
        return new FormInvalid({ reason: reason === "Parse" ? "malformed" : "too_much" })
      })
    )
  const budgets = Effect.all(longField === undefined ? [FileSpaceBudget] : [FileSpaceBudget, BodyMemoryBudget])
  return Effect.flatMap(budgets, (budgets) => withinBudgets(budgets, source, spool)).pipe(
    Effect.tapError(() => drain(source)),
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

/** Reserves the arriving bytes in each budget until the scope closes. Fails when one of the budgets evicts the form. */
const withinBudgets = <A, E, R>(
  budgets: ReadonlyArray<ByteBudget>,
  source: IncomingMessage,
  spool: (bytes: Readable) => Effect.Effect<A, E, R>
) =>
  Effect.suspend(() => {
    const evictedSignal = Deferred.makeUnsafe<never, FormCrowdedOut>()
    const onEvicted = () => Deferred.doneUnsafe(evictedSignal, Exit.fail(new FormCrowdedOut()))
    const owner = bearerOf(source) ?? ""
    const reservations = budgets.map((budget): readonly [ByteBudget, BodyReservation] => [
      budget,
      { owner, bytes: 0, onEvicted }
    ])
    const counter = new Transform({
      transform: (chunk: Buffer, _, done) => {
        for (const [budget, reservation] of reservations) budget.grow(reservation, chunk.length)
        done(null, chunk)
      }
    })
    const release = Effect.sync(() => {
      counter.destroy()
      for (const [budget, reservation] of reservations) budget.release(reservation)
    })
    return Effect.addFinalizer(() => release).pipe(
      Effect.andThen(Effect.raceFirst(spool(source.pipe(counter)), Deferred.await(evictedSignal))),
      Effect.tap(() => Effect.sync(() => reservations.forEach(([budget, reservation]) => budget.complete(reservation))))
    )
  })

const isShort = (value: string | ReadonlyArray<string>): boolean =>
  typeof value === "string" ? Buffer.byteLength(value) <= MAX_FIELD_BYTES : value.every(isShort)

/** True where the header names a boundary within the length of RFC 2046. */
export const isForm = (source: IncomingMessage): boolean =>
  /^multipart\/form-data\s*;(?:.*;)?\s*boundary=(?:"[^"]{1,70}"|[^\s;"]{1,70})\s*(?:;|$)/i.test(
    source.headers["content-type"] ?? ""
  )

const drain = (source: IncomingMessage) =>
  Effect.sync(() => {
    source.unpipe()
    source.resume()
  })

const formOf = async (parts: Multipart.Persisted): Promise<UploadedForm> => {
  const fields: Record<string, string | ReadonlyArray<string>> = {}
  const files = new Map<string, UploadedFile>()
  for (const [name, given] of Object.entries(parts)) {
    const values: ReadonlyArray<string | Multipart.PersistedFile> = typeof given === "string" ? [given] : given
    const texts = values.filter((value) => typeof value === "string" && value !== "")
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
