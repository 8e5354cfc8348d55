/**
 * A server as one model uses it: its connections, its breaker, and how many requests are under way. The only place that
 * knows its address and its key; neither is a field that a dump or a log could show.
 */
import { Redacted } from "effect"
import { createHash } from "node:crypto"
import { type FormData, Pool } from "undici"
import { admits, admitted, after, type Breaker, fresh, probes, type Verdict } from "./Breaker.ts"
import type { Server } from "../catalog/UpstreamCatalog.ts"
import { Exchange } from "./Exchange.ts"

/** Longest that a connection may take to come about. */
const CONNECT_MS = 5_000

export interface Sent {
  readonly method: "GET" | "POST" | "DELETE"
  /** Below the base address: `/chat/completions`. */
  readonly path: string
  readonly accept: string
  /** JSON as text, or a form. */
  readonly body?: string | FormData
  readonly headers?: ReadonlyArray<string>
  /** Bytes of an answer at most. */
  readonly mostBytes: number
}

export class Upstream {
  readonly weight: number
  readonly model: Server["model"]
  readonly maxTokensField: Server["maxTokensField"]
  readonly omit: Server["omit"]
  /** Names it in what is kept of it longer than the process lives; says nothing of it. */
  readonly mark: string
  breaker: Breaker = fresh
  private underWay = 0
  private readonly most: number
  readonly #pool: Pool
  readonly #path: string
  readonly #headers: ReadonlyArray<string>

  constructor(server: Server) {
    this.weight = server.weight
    this.model = server.model
    this.maxTokensField = server.maxTokensField
    this.omit = server.omit
    this.most = server.maxConcurrency
    this.mark = createHash("sha256").update(`${server.baseUrl.href} ${server.model}`).digest("hex").slice(0, 12)
    this.#path = server.baseUrl.pathname.replace(/\/+$/, "")
    this.#headers = [
      "user-agent",
      "sluice",
      ...(server.key === undefined ? [] : ["authorization", `Bearer ${Redacted.value(server.key)}`])
    ]
    this.#pool = new Pool(server.baseUrl.origin, {
      connections: server.maxConcurrency,
      pipelining: 1,
      // One request a connection: hanging up and holding up then concern no other.
      allowH2: false,
      connectTimeout: Math.min(CONNECT_MS, server.timeoutMs),
      headersTimeout: server.timeoutMs,
      bodyTimeout: server.timeoutMs
    })
  }

  usable(nowMs: number): boolean {
    return this.underWay < this.most && admits(this.breaker, nowMs)
  }

  /** A request is to be sent; whether it is a probe. */
  admit(nowMs: number): boolean {
    const probe = probes(this.breaker)
    this.breaker = admitted(this.breaker, nowMs)
    return probe
  }

  judge(verdict: Verdict, probe: boolean, nowMs: number): void {
    this.breaker = after(this.breaker, verdict, probe, nowMs)
  }

  send({ accept, body, headers, method, mostBytes, path }: Sent): Exchange {
    this.underWay++
    const exchange = new Exchange(mostBytes, () => {
      this.underWay--
    })
    const sent = [...this.#headers, "accept", accept, ...(headers ?? [])]
    if (typeof body === "string") sent.push("content-type", "application/json")
    this.#pool.dispatch({ method, path: this.#path + path, headers: sent, body: body ?? null }, exchange)
    return exchange
  }

  /** Hangs up on all requests. */
  close(): Promise<void> {
    return this.#pool.destroy()
  }
}
