/**
 * Runs the window rule of `RateLimit.admit` inside Redis as one script: many requests in one command, counted in order,
 * atomically with respect to other replicas. Each request brings its own time; Redis's clock decides only when an
 * unused key expires.
 *
 * A replica sends the window that it knows, and the script continues from the newer of the two. Redis knows less only
 * after an outage or a loss of data; the window then continues instead of starting again.
 */
import { type Window, WINDOW_MS } from "@sluice/domain/limits/RateLimit"
import { Effect } from "effect"
import { hash } from "node:crypto"
import { type Connection, RedisLost } from "./RedisLink.ts"

export interface Consumption {
  readonly name: string
  readonly limit: number
  readonly nowMs: number
  readonly known: Window | undefined
}

export interface Counted {
  readonly admitted: boolean
  /** The window after this request. */
  readonly window: Window
}

/**
 * Lifetime of a key in Redis after its last request. A window has ended by then, unless the service's clock stands
 * still.
 */
export const KEPT_MS = 2 * WINDOW_MS

const FIELDS = 4
/** Start of an unknown window, in milliseconds: so early that the window has ended at any time of a request. */
const NEVER = "-1e15"

const SCRIPT = `
local answers = {}
for i = 1, #KEYS do
  local at = (i - 1) * ${FIELDS}
  local limit, now = tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2])
  local start, used = tonumber(ARGV[at + 3]), tonumber(ARGV[at + 4])
  local held = redis.pcall('GET', KEYS[i])
  if type(held) == 'string' then
    local s, u = string.match(held, '^(%-?%d+) (%d+)$')
    s, u = tonumber(s), tonumber(u)
    if s and (s > start or (s == start and u > used)) then start, used = s, u end
  end
  if now >= start + ${WINDOW_MS} then start, used = now, 0 end
  local admitted = 0
  if used < limit then admitted, used = 1, used + 1 end
  redis.call('SET', KEYS[i], string.format('%.0f %.0f', start, used), 'PX', ${KEPT_MS})
  answers[#answers + 1] = admitted
  answers[#answers + 1] = start
  answers[#answers + 1] = used
end
return answers`
const SHA = hash("sha1", SCRIPT, "hex")

/** Counts the requests in order. Fails with `RedisLost` where Redis fails or its reply has another shape. */
export const count = (
  connection: Connection,
  requests: ReadonlyArray<Consumption>
): Effect.Effect<ReadonlyArray<Counted>, RedisLost> => {
  const rest = [String(requests.length)]
  for (const { name } of requests) rest.push(name)
  for (const { limit, nowMs, known } of requests) {
    rest.push(String(limit), String(nowMs), String(known?.startMs ?? NEVER), String(known?.used ?? 0))
  }
  return Effect.flatMap(
    Effect.catchIf(connection.send(["EVALSHA", SHA, ...rest]), isScriptMissing, () =>
      connection.send(["EVAL", SCRIPT, ...rest])
    ),
    (answer) => decodeCounts(answer, requests.length)
  )
}

/** Redis does not have the script: it is new or was restarted. */
const isScriptMissing = ({ reason }: RedisLost) => reason === "NOSCRIPT"

const decodeCounts = (answer: unknown, length: number): Effect.Effect<ReadonlyArray<Counted>, RedisLost> => {
  if (!Array.isArray(answer) || answer.length !== 3 * length || !answer.every(Number.isSafeInteger)) {
    return Effect.fail(new RedisLost({ reason: "an unexpected reply" }))
  }
  const counted = Array.from({ length }, (_, i) => ({
    admitted: answer[3 * i] === 1,
    window: { startMs: answer[3 * i + 1], used: answer[3 * i + 2] }
  }))
  return Effect.succeed(counted)
}
