/** Doubles that are closed after each test, and requests to them. */
import { type Sluice, startSluice } from "../../../src/double/Double.ts"
import { type SluiceOptions } from "../../../src/double/SluiceOptions.ts"
import { afterEach, assert } from "vitest"

let open: Array<Sluice> = []
afterEach(async () => {
  await Promise.all(open.map((one) => one.close()))
  open = []
})

export const start = async (options?: SluiceOptions) => {
  const sluice = await startSluice(options)
  open.push(sluice)
  return sluice
}

export const call = async (sluice: Sluice, method: string, path: string, body?: unknown) => {
  const response = await fetch(sluice.url + path, {
    method,
    headers: { authorization: `Bearer ${sluice.key}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })
  const text = await response.text()
  // oxlint-disable-next-line typescript/no-explicit-any
  const json = (text.startsWith("{") ? JSON.parse(text) : undefined) as any
  return { status: response.status, requestId: response.headers.get("x-request-id"), text, json }
}

/** Why it was refused. */
export const refused = (asked: Promise<unknown>): Promise<string> =>
  asked.then(
    () => assert.fail("it was taken"),
    (error: Error) => error.message
  )

export const submit = async (sluice: Sluice, command = "echo one; sleep 60; echo two") => {
  const job = { command, gpu_type: "H100", max_runtime_minutes: 5, name: "job" }
  const { json, status, text } = await call(sluice, "POST", "/api/v1/jobs", job)
  assert.strictEqual(status, 201, text)
  return json.data.id as string
}
export const show = async (sluice: Sluice, id: string) => (await call(sluice, "GET", `/api/v1/jobs/${id}`)).json.data
export const chat = (sluice: Sluice, content = "Hello") =>
  call(sluice, "POST", "/v1/chat/completions", { model: "sluice-small", messages: [{ role: "user", content }] })
