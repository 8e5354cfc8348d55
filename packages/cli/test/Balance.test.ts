/** The text of `sluice balance` for a balance that runs out. */
import { createServer } from "node:http"
import { expect, it } from "vitest"
import { cli } from "./support/Cli.ts"

it("the balance prints its end in the same time format as all other times", async () => {
  const data = {
    available_usd: 7.5,
    held_usd: 2.5,
    balance_usd: 10,
    accruing_usd_per_hour: 2.5,
    runs_out_at: "2027-03-06T19:21:01.925Z"
  }
  const server = createServer((_, response) => {
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ data }))
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  const { code, out } = await cli(["balance"], {
    SLUICE_API_KEY: "svc_live_0123456789abcdef",
    SLUICE_INFRA_URL: `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}/api/v1`
  }).finally(() => server.close())
  expect(code).toBe(0)
  expect(out).toMatch(/^available +\$7\.50$/m)
  expect(out).toMatch(/^lasts until +2027-03-06 19:21:01Z$/m)
})
