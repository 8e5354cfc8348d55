/**
 * The window rule of `RateLimit.admit`, run inside Redis: for many requests at once, in their order, as one step that no
 * other replica comes between. Time is each request's own; Redis's clock only decides when a key that nobody asks for goes.
 *
 * A replica hands in what it knows of a window. As a rule Redis knows more; it does not after it was away or lost its data,
 * and then the window goes on instead of beginning anew.
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
  /** As it is afterwards. */
  readonly window: Window
}

/** In Redis's time, from the last request on: a window is over by then, unless the service's clock stood still. */
export const KEPT_MS = 2 * WINDOW_MS

const FIELDS = 4
/** A window that nobody knows began before all time. */
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

/** Counts the requests, each in its turn. */
export const count = (
  connection: Connection,
  asked: ReadonlyArray<Consumption>
): Effect.Effect<ReadonlyArray<Counted>, RedisLost> => {
  const rest = [String(asked.length)]
  for (const { name } of asked) rest.push(name)
  for (const { limit, nowMs, known } of asked) {
    rest.push(String(limit), String(nowMs), String(known?.startMs ?? NEVER), String(known?.used ?? 0))
  }
  return Effect.flatMap(
    Effect.catchIf(connection.send(["EVALSHA", SHA, ...rest]), isUnknown, () =>
      connection.send(["EVAL", SCRIPT, ...rest])
    ),
    (answer) => countedOf(answer, asked.length)
  )
}

/** Redis has forgotten the script, or never knew it. */
const isUnknown = ({ reason }: RedisLost) => reason === "NOSCRIPT"

const countedOf = (answer: unknown, length: number): Effect.Effect<ReadonlyArray<Counted>, RedisLost> => {
  if (!Array.isArray(answer) || answer.length !== 3 * length || !answer.every(Number.isSafeInteger)) {
    return Effect.fail(new RedisLost({ reason: "an answer of another kind" }))
  }
  const counted = Array.from({ length }, (_, i) => ({
    admitted: answer[3 * i] === 1,
    window: { startMs: answer[3 * i + 1], used: answer[3 * i + 2] }
  }))
  return Effect.succeed(counted)
}
