/** When a run begins, how long it may take, and how often it is looked at: in milliseconds. */
/** 2027-01-15: a month has room for a budget's roll-over. */
export const EPOCH = Date.UTC(2027, 0, 15)
export const HOUR = 3_600_000
/** By how much the clocks of two replicas may differ. */
export const MAX_SKEW_MS = 120_000
/** After the last item: how long until all must have ended, and how long the service then has to clean up. */
export const RUN_OUT_MS = 48 * HOUR
/** Times the scale of the service: longer than the hold of a chat that nobody settled lives, and two sweeps. */
export const TIDY_MS = 2_500_000
export const SWEPT_MS = 130_000
export const LOOK_MS = 60_000
