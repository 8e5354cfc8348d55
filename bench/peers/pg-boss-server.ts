/** Serves pg-boss over bare HTTP: no authentication, no validation, no money. POST /jobs, GET /jobs/{id}; jobs are no-ops. */
import { createServer } from "node:http"
import { PgBoss } from "pg-boss"

const [port, url, way] = [Number(process.argv[2]), String(process.argv[3]), process.argv[4]]
const QUEUE = `bench-${way ?? "fetch"}`
const boss = new PgBoss({ connectionString: url, max: 20, useListenNotify: way === "notify" })
boss.on("error", () => {})
await boss.start()
await boss.createQueue(QUEUE, { notify: way === "notify" })

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
/** Fetches jobs by hand, without the polling interval of `work`, which is faster. The other mode is `work`, woken by NOTIFY. */
const worker = async () => {
  for (;;) {
    const jobs = await boss.fetch(QUEUE, { batchSize: 50 })
    if (jobs.length === 0) await pause(2)
    else
      await boss.complete(
        QUEUE,
        jobs.map((job) => job.id)
      )
  }
}
if (way === "notify") await boss.work(QUEUE, { batchSize: 50, pollingIntervalSeconds: 0.5 }, async () => {})
else for (let i = 0; i < 4; i++) void worker()

createServer((request, response) => {
  const send = (status: number, body: unknown) => {
    const text = JSON.stringify(body)
    response.writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(text) })
    response.end(text)
  }
  const parts: Array<Buffer> = []
  request.on("data", (part: Buffer) => parts.push(part))
  request.on("end", () => {
    const done = async () => {
      if (request.method === "POST") {
        JSON.parse(Buffer.concat(parts).toString())
        return send(201, { data: { id: await boss.send(QUEUE, {}), status: "queued" } })
      }
      const job = await boss.getJobById(QUEUE, request.url?.split("/").pop() ?? "")
      const status =
        job === null
          ? "missing"
          : job.state === "created"
            ? "queued"
            : job.state === "completed"
              ? "succeeded"
              : "running"
      return send(200, { data: { id: job?.id, status } })
    }
    done().catch((error: unknown) => send(500, { error: String(error) }))
  })
}).listen(port, "127.0.0.1")
