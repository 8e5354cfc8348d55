/** `sluice usage` with more groups than fit on one page. */
import { createServer } from "node:http"
import { afterAll, beforeAll, expect, it } from "vitest"
import { cli } from "./support/Cli.ts"

const GROUPS = 250
/** A cursor of another version's form: to a client cursors are opaque. */
const cursorOf = (at: number) => `page-${at}`
const asked: Array<string> = []
const one = { total_requests: 1, total_prompt_tokens: 2, total_completion_tokens: 3, total_tokens: 5, total_cost: 0.5 }
const groups = Array.from({ length: GROUPS }, (_, at) => ({ ...one, group: `key-${at}`, name: null }))

const server = createServer(({ url = "" }, response) => {
  const { pathname, searchParams } = new URL(url, "http://localhost")
  asked.push(url)
  const from = Number(searchParams.get("cursor")?.slice(5) ?? 0)
  const to = from + Number(searchParams.get("limit") ?? 50)
  const hasMore = to < GROUPS
  const meta = { cursor: hasMore ? cursorOf(to) : "", hasMore, total: GROUPS, requestId: "r" }
  const told = pathname.endsWith("/breakdown")
    ? { data: groups.slice(from, to), meta }
    : { data: { ...one, total_requests: GROUPS } }
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(told))
})
beforeAll(() => new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve)))
afterAll(() => void server.close())

it("usage prints the groups of all pages, as text and as JSON", async () => {
  const address = server.address()
  const place = {
    SLUICE_API_KEY: "svc_live_0123456789abcdef",
    SLUICE_INFRA_URL: `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}/api/v1`
  }
  const usage = ["usage", "--by", "key", "--from", "2026-01-01"]
  const told = JSON.parse((await cli([...usage, "--json"], place)).out)
  expect(told.groups).toEqual(groups)
  const { err, out } = await cli(usage, place)
  expect(out.match(/^key-\d+ /gm)).toEqual(groups.map(({ group }) => `${group} `))
  expect(err).toBe("")
  const pages = asked.filter((url) => url.includes("/breakdown")).map((url) => new URL(url, "http://x").searchParams)
  expect(pages.slice(0, 3).map((page) => [page.get("limit"), page.get("cursor"), page.get("by")])).toEqual([
    ["100", null, "key"],
    ["100", cursorOf(100), "key"],
    ["100", cursorOf(200), "key"]
  ])
})
