/**
 * The format of API keys: `svc_live_`, 8 characters that are shown as the prefix, and 30 characters of secret (178
 * random bits), base62. Only the SHA-256 of a key is stored; the full key is returned once (interface: Authentication;
 * decisions: Tenancy).
 */
import type { Scope } from "./Principal.ts"

export const KEY_PREFIX = "svc_live_"
export const DEFAULT_RATE_LIMIT_RPM = 600
export const MAX_RATE_LIMIT_RPM = 1_000_000

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
const PUBLIC_LENGTH = 8
const SECRET_LENGTH = 30

/** Random bytes that `fromRandom` needs: twice the key's length, because it skips bytes of 248 and above. */
export const RANDOM_BYTES = 2 * (PUBLIC_LENGTH + SECRET_LENGTH)

export interface ApiKey {
  readonly id: string
  readonly name: string
  /** `svc_live_` and the 8 public characters. */
  readonly prefix: string
  readonly status: "active" | "inactive"
  /** Null: all scopes. */
  readonly scopes: ReadonlyArray<Scope> | null
  readonly environmentId: string | null
  readonly rateLimitRpm: number
  readonly lastUsedAt: Date | null
  readonly createdAt: Date
}

/**
 * Returns the key made of random bytes, without modulo bias. Undefined if too many bytes were skipped, which happens
 * once in about 10^20 calls.
 */
export const fromRandom = (bytes: Uint8Array): string | undefined => {
  let text = ""
  for (const byte of bytes) {
    if (byte < 248) text += ALPHABET[byte % 62]
    if (text.length === PUBLIC_LENGTH + SECRET_LENGTH) return KEY_PREFIX + text
  }
  return undefined
}

/** Returns whether a text has the form of a key. A text without it is refused before any look-up. */
export const isWellFormed = (key: string): boolean => /^svc_live_[0-9A-Za-z]{16,128}$/.test(key)

/** Returns the part of a key that may be shown. */
export const prefixOf = (key: string): string => key.slice(0, KEY_PREFIX.length + PUBLIC_LENGTH)
