/** The caller's name for a request, on both surfaces: from 1 to so many characters. */
export const MAX_IDEMPOTENCY_KEY = 255
