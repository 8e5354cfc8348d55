/** Maximum characters of an idempotency key, on both surfaces. The minimum is 1. */
export const MAX_IDEMPOTENCY_KEY = 255
