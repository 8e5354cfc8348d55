/**
 * Measures the test double beside aimock: the same request, the same answer in the same number of chunks, buffered and streamed.
 * The double checks the key, counts tokens, and reserves and charges in its database. aimock looks the answer up.
 */
import { freePort } from "@sluice/testing/servers/ServerProcess"
import { call } from "./Load.ts"
import { type Target } from "./Wire.ts"
import { measureClosedLoop, type Peer, report, startServer } from "./Peers.ts"

/** A chat model of the test double. */
const KEY = "svc_live_thekeyofeverytestdouble0000000000"
const QUESTION = "Explain in two sentences why a ledger keeps two entries for each transaction."

const bodyOf = (stream: boolean) =>
  JSON.stringify({ model: "sluice-small", max_tokens: 32, stream, messages: [{ role: "user", content: QUESTION }] })

export const double = async (): Promise<void> => {
  const port = await freePort()
  const child = await startServer("double-server.ts", port)
  const key = await keyOf(port)
  const target: Target = { port, path: "/v1/chat/completions", key, body: bodyOf(false) }
  const { text } = await call(target, "POST")
  const answer: string = JSON.parse(text).choices[0].message.content
  const chunks = (await call({ ...target, body: bodyOf(true) }, "POST")).text.split('"content":').length - 1

  const otherPort = await freePort()
  const chunkSize = String(Math.ceil(answer.length / chunks))
  const other = await startServer("peers/aimock-server.ts", otherPort, answer, chunkSize)
  const peers: ReadonlyArray<Peer> = [
    { name: "aimock", pids: [other.pid!], target: { ...target, port: otherPort } },
    { name: "the double", pids: [child.pid!], target }
  ]
  const asking = (stream: boolean) =>
    peers.map((peer) => ({ ...peer, target: { ...peer.target, body: bodyOf(stream) } }))
  report("The test double, chat, buffered", await measureClosedLoop(asking(false)), "aimock")
  report(`The test double, chat, streamed in ${chunks} chunks`, await measureClosedLoop(asking(true)), "aimock")
}

/** A key without a rate limit. */
const keyOf = async (port: number): Promise<string> => {
  const body = JSON.stringify({ name: "bench", rate_limit_rpm: 1_000_000 })
  const { text } = await call({ port, path: "/api/v1/api-keys", key: KEY, body }, "POST")
  return JSON.parse(text).data.key
}
