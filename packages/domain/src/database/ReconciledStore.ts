/**
 * What statements about reconciled rows say alike: which have ended, whose claim is renewed, when they wake, and that a
 * machine is to stop. Text alone. What has ended is said as the indexes of what is due say it, so that these are used.
 */

/** The states of a job that has ended; a test holds it to `terminalStatuses`. */
export const ENDED = `('succeeded', 'failed', 'cancelled', 'timed_out')`
/** The states of a machine that is gone; a test holds it to `isGone`. */
export const GONE = `('stopped', 'failed')`

/** $1 until when, $2 replica, $3 ids. Locked in their order before any is written. */
export const renewal = (table: "environments" | "jobs" | "machines" | "videos"): string =>
  `update ${table} set lease_until = $1 where id = any(array(select id from ${table} where lease_by = $2
  and id = any(array(select value::uuid from json_array_elements_text($3::json))) order by id for no key update))`

/** Due at once; a row that is in a step keeps its time and sees by its `events` that it is to look again. */
export const wakeNow = (now: string, row = ""): string =>
  `case when ${row}lease_until > ${now} then ${row}wake_at else least(${row}wake_at, ${now}) end`

/** What is set of a machine that is to stop. */
export const stopAsked = (now: string, row = ""): string =>
  `stop_requested_at = coalesce(${row}stop_requested_at, ${now}), events = ${row}events + 1,
    status = case when ${row}status = 'running' then 'stopping' else ${row}status end, wake_at = ${wakeNow(now, row)}`
