/**
 * A film that is completed, one that failed, one that is being made, beside the rows of Breaks.ts; and one change or more for
 * each invariant of videos and of requests to models that breaks it and nothing else.
 */
import { at, type Break, breaks, E, ended, id, q, REVENUE, W } from "./Breaks.ts"

const [SHOT, FAILED, MADE] = [q(400), q(401), q(402)]
const PRICE = 400

const video = (n: number, status: string, more: Record<string, string> = {}) => {
  const columns = {
    id: q(n),
    workspace_id: W,
    environment_id: E,
    key_id: q(6),
    model: `'film'`,
    prompt: `'p'`,
    size: `'1x1'`,
    seconds: "4",
    price: String(PRICE),
    status: `'${status}'`,
    reference: `'r${n}'`,
    created_at: at(-30),
    wake_at: at(10),
    ...more
  }
  return `insert into videos (${Object.keys(columns).join(", ")}) values (${Object.values(columns).join(", ")})`
}

export const videoRows: ReadonlyArray<string> = [
  `insert into holds (id, account_id, amount, state) values (${SHOT}, ${W}, ${PRICE}, 'settled'), (${FAILED}, ${W}, ${PRICE}, 'released'), (${MADE}, ${W}, ${PRICE}, 'open')`,
  `insert into txns (id, kind, description, resource_id, created_at) values (${SHOT}, 'inference', 'v', 'video_${id(400)}', ${at(-20)})`,
  `insert into entries (txn_id, account_id, amount) values (${SHOT}, ${W}, -${PRICE}), (${SHOT}, ${REVENUE}, ${PRICE})`,
  `insert into usage (id, workspace_id, environment_id, key_id, model, tokens_in, tokens_out, cost, at) values (${SHOT}, ${W}, ${E}, ${q(6)}, 'film', 0, 0, ${PRICE}, ${at(-20)})`,
  `update accounts set balance = balance - ${PRICE}, held = held + ${PRICE} where id = ${W}`,
  `update environments set month_spent = month_spent + ${PRICE}`,
  video(400, "completed", { percent: "100", cost: String(PRICE), ended_at: at(-20) }),
  video(401, "failed", { failure: `'video_generation_failed'`, cost: "0", ended_at: at(-20) }),
  video(402, "in_progress", { percent: "40" })
]

const said = { text: "one", cost: 5n }

export const VIDEO_BREAKS: ReadonlyArray<Break> = [
  breaks(6, `update holds set state = 'released' where id = ${MADE}`, `update accounts set held = held - ${PRICE}`),
  breaks(
    6,
    `insert into holds (id, account_id, amount) values (${q(403)}, ${W}, 5)`,
    `update accounts set held = held + 5`,
    video(403, "failed", { cost: "0", ended_at: at(-20) }),
    `set local session_replication_role = replica`,
    `delete from videos where id = ${q(403)}`
  ),
  breaks(18, `update videos set wake_at = ${at(-1)} where id = ${MADE}`),
  breaks(18, `update videos set deleted_at = ${at(-2)}, wake_at = ${at(-2)} where id = ${SHOT}`),
  breaks(30, `update videos set events = -1 where id = ${MADE}`),
  ended(34, {}, `update videos set deleted_at = ${at(-1)} where id = ${SHOT}`),
  breaks(36, `update videos set percent = 99 where id = ${SHOT}`),
  breaks(36, `update videos set prompt = 'other' where id = ${FAILED}`),
  breaks(36, `delete from videos where id = ${SHOT}`),
  breaks(37, `update videos set percent = 39 where id = ${MADE}`),
  breaks(37, `update videos set status = 'queued' where id = ${MADE}`),
  breaks(37, `update videos set reference = 'other' where id = ${MADE}`),
  breaks(37, `update videos set seconds = 8 where id = ${MADE}`),
  breaks(
    38,
    `set local session_replication_role = replica`,
    `update videos set status = 'completed', cost = price where id = ${FAILED}`
  ),
  breaks(
    38,
    `set local session_replication_role = replica`,
    `update videos set status = 'failed', cost = 0 where id = ${SHOT}`
  ),
  breaks(38, `update videos set cost = 1 where id = ${MADE}`),
  breaks(
    38,
    `insert into txns (id, kind, description, resource_id, created_at) values (${MADE}, 'inference', 'v', 'v', ${at(-5)})`,
    `insert into entries (txn_id, account_id, amount) values (${MADE}, ${W}, -7), (${MADE}, ${REVENUE}, 7)`,
    `insert into usage (id, workspace_id, environment_id, key_id, model, tokens_in, tokens_out, cost, at) values (${MADE}, ${W}, ${E}, ${q(6)}, 'film', 0, 0, 7, ${at(-5)})`,
    `update accounts set balance = balance - 7`,
    `update environments set month_spent = month_spent + 7`
  ),
  breaks(
    39,
    `set local session_replication_role = replica`,
    `update videos set created_at = ${at(-61)} where id = ${MADE}`
  ),
  ended(39, { videos: [id(400), id(499)] }),
  ended(40, { failed: ["r"] }),
  ended(41, { answered: [{ id: "r", cost: 999n }] }),
  ended(41, { answered: [{ id: "nobody", cost: 1n }] }),
  ended(
    41,
    { answered: [{ id: "r", cost: 1_005n }] },
    `insert into txns (id, kind, description, resource_id, created_at) values (${q(404)}, 'inference', 'i', 'r', ${at(-4)})`,
    `insert into entries (txn_id, account_id, amount) values (${q(404)}, ${W}, -5), (${q(404)}, ${REVENUE}, 5)`,
    `insert into usage (id, workspace_id, environment_id, key_id, model, tokens_in, tokens_out, cost, at) values (${q(404)}, ${W}, ${E}, ${q(6)}, 'm', 1, 1, 5, ${at(-4)})`,
    `update accounts set balance = balance - 5`,
    `update environments set month_spent = month_spent + 5`
  ),
  ended(42, { twins: [{ id: "chat-1", streamed: said, buffered: { ...said, cost: 6n } }] }),
  ended(42, { twins: [{ id: "chat-1", streamed: { ...said, text: "on" }, buffered: said }] }),
  ended(47, { misled: ["job-1: byte 8 was told where 7 was due"] }),
  // The rest of what callers were told is as it was (the chat of Breaks.ts, `r`, was charged 1,000).
  ended(42, {
    videos: [id(400), id(401)],
    answered: [{ id: "r", cost: 1_000n }],
    failed: ["nobody"],
    twins: [{ id: "chat-1", streamed: said, buffered: { ...said, text: "two" } }]
  })
]
