/** Generates requests from the contract: valid ones, and ones with one or more faults. */
import type { OpenApiDocument } from "@sluice/api/OpenApiDocument"
import type { Chance } from "./Chance.ts"
import { type Schema, type Schemas, valueOf } from "./JsonSchema.ts"
import { oddText, spoil, tear } from "./Mutations.ts"

export interface Operation {
  readonly method: string
  readonly path: string
  readonly parameters: ReadonlyArray<{ readonly name: string; readonly in: string; readonly schema: Schema }>
  /** By content type. */
  readonly bodies: Readonly<Record<string, Schema>>
  /** By status, by content type. */
  readonly responses: Readonly<Record<string, Readonly<Record<string, Schema>>>>
}

export interface FuzzRequest {
  readonly operation: Operation
  readonly url: string
  readonly headers: Record<string, string>
  readonly body: string | Uint8Array<ArrayBuffer> | FormData | undefined
}

type Content = Readonly<Record<string, { readonly schema?: Schema }>>

const schemasIn = (content: unknown): Readonly<Record<string, Schema>> =>
  Object.fromEntries(Object.entries((content ?? {}) as Content).map(([type, { schema }]) => [type, schema ?? {}]))

export const operationsOf = (document: OpenApiDocument): ReadonlyArray<Operation> =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { parameters, requestBody, responses }]) => ({
      method: method.toUpperCase(),
      path,
      parameters: (parameters ?? []) as Operation["parameters"],
      bodies: schemasIn((requestBody as { readonly content?: Content } | undefined)?.content),
      responses: Object.fromEntries(
        Object.entries(responses).map(([status, { content }]) => [status, schemasIn(content)])
      )
    }))
  )

export interface Known {
  readonly schemas: Schemas
  /** Ids from earlier answers. */
  readonly ids: ReadonlyArray<string>
  readonly hint: (name: string) => unknown
  /** A small audio file. */
  readonly sound: Uint8Array<ArrayBuffer>
}

export const requestOf = (operation: Operation, known: Known, chance: Chance): FuzzRequest => {
  const headers: Record<string, string> = {}
  const [type, schema] = chance.maybe(0.97) ? (chance.pick(Object.entries(operation.bodies)) ?? []) : []
  const body = schema === undefined ? undefined : bodyOf(type!, schema, known, chance, headers)
  if (chance.maybe(0.03)) headers["content-type"] = chance.pick(["text/plain", "application/json; charset=latin1", "x"])
  if (operation.method === "POST" && chance.maybe(0.05))
    headers["idempotency-key"] = chance.pick(["a", "b", "x".repeat(300)])
  if (chance.maybe(0.02)) headers["x-environment"] = chance.pick(["default", "nobody", "%00", "'"])
  if (chance.maybe(0.05)) headers["range"] = chance.pick(["bytes=0-9", "bytes=-0", "bytes=9-1", "bytes=99999999-", "x"])
  if (chance.maybe(0.05)) headers["accept"] = chance.pick(["text/event-stream", "application/xml", "*/*;q=0", ""])
  if (chance.maybe(0.02)) headers["last-event-id"] = chance.pick(["0", "-1", "99", "x"])
  return { operation, url: urlOf(operation, known, chance), headers, body }
}

const urlOf = (operation: Operation, known: Known, chance: Chance): string => {
  const path = operation.path.replaceAll(/\{[^}]+\}/g, () =>
    known.ids.length > 0 && chance.maybe(0.7)
      ? chance.pick(known.ids)
      : encodeURIComponent(oddText(chance).toWellFormed().slice(0, 200) || "-")
  )
  const query = new URLSearchParams()
  for (const { in: where, name, schema } of operation.parameters) {
    if (where !== "query" || !chance.maybe(0.3)) continue
    const value = chance.maybe(0.5) ? valueOf(schema, known.schemas, chance, known.hint, name) : oddText(chance)
    for (let n = chance.maybe(0.05) ? 2 : 1; n > 0; n--) query.append(name, String(value).slice(0, 500))
  }
  if (chance.maybe(0.03)) query.append("nonsense", "1")
  // A followed log ends with its job, so most would wait.
  if (operation.path.endsWith("/logs")) query.set("follow", "false")
  return query.size === 0 ? path : `${path}?${query}`
}

const bodyOf = (type: string, schema: Schema, known: Known, chance: Chance, headers: Record<string, string>) => {
  let value = valueOf(schema, known.schemas, chance, known.hint)
  const faults = chance.pick([0, 1, 1, 1, 2, 4])
  for (let n = 0; n < faults; n++) value = spoil(value, chance)
  if (type === "multipart/form-data") return formOf(value, known, chance)
  headers["content-type"] = "application/json"
  const text = JSON.stringify(value) ?? ""
  return chance.maybe(0.06) ? tear(text, chance) : text
}

const formOf = (value: unknown, known: Known, chance: Chance): FormData | Uint8Array<ArrayBuffer> => {
  const form = new FormData()
  for (const [name, field] of Object.entries(value ?? {})) {
    if (name === "file" || name === "input_reference") continue
    form.append(name, typeof field === "string" ? field : (JSON.stringify(field) ?? ""))
  }
  const file = chance.pick([
    known.sound,
    known.sound,
    new Uint8Array(0),
    new Uint8Array([1, 2, 3]),
    known.sound.slice(0, 90)
  ])
  const name = chance.maybe(0.9) ? chance.pick(["file", "file", "input_reference"]) : "other"
  const type = chance.pick(["audio/wav", "image/png", "application/json", ""])
  if (chance.maybe(0.95)) form.append(name, new Blob([file], { type }), chance.pick(["a.wav", "../a", "\u0001", ""]))
  return chance.maybe(0.03) ? new Uint8Array([45, 45, 120, 13, 10]) : form
}
