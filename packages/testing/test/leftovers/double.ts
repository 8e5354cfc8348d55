/** A process that opens and closes a test double that had work, and prints what is left of it. */
import { request } from "node:http"
import { leftoversOf } from "../../src/fixtures/Leftovers.ts"
import { type Sluice, startSluice } from "../../src/Testing.ts"

/** A request on a connection of its own, which closes with its answer. */
const ask = (sluice: Sluice, method: string, path: string, body?: unknown) =>
  new Promise<string>((resolve, reject) => {
    const headers = { authorization: `Bearer ${sluice.key}`, "content-type": "application/json" }
    const asked = request(sluice.url + path, { agent: false, headers, method }, (answer) => {
      let text = ""
      answer.setEncoding("utf8")
      answer.on("data", (part: string) => (text += part))
      answer.on("close", () => resolve(text))
    })
    asked.on("error", reject)
    asked.end(body === undefined ? undefined : JSON.stringify(body))
  })

const found: Array<string> = []

const work = async () => {
  const heard = process.stdin.listenerCount("end")
  await using sluice = await startSluice()
  // Many doubles are open at once in one process, and Node warns of too many listeners.
  if (process.stdin.listenerCount("end") !== heard) found.push("an open double listens to the standard input")
  const job = { command: "echo one; sleep 60; echo two", gpu_type: "H100", max_runtime_minutes: 5 }
  const { data } = JSON.parse(await ask(sluice, "POST", "/api/v1/jobs", job))
  const chat = { model: "sluice-small", messages: [{ role: "user", content: "Hello" }], max_tokens: 20 }
  await ask(sluice, "POST", "/v1/chat/completions", { ...chat, stream: true })
  await sluice.advance("30 seconds")
  // Still open when the double closes.
  ask(sluice, "GET", `/api/v1/jobs/${data.id}/logs?follow=true`).catch(() => {})
  await sluice.advance("1 second")
}

process.stdout.write(JSON.stringify([...(await leftoversOf(work)), ...found]))
