/**
 * The port to images that a caller names by link instead of sending them. Undefined, as it is unless the operator allows it:
 * links are refused. Who stands behind it keeps callers from what is not public, and tells them nothing of it.
 */
import { Context, Schema } from "effect"
import type { Effect } from "effect"
import type { UpstreamFailed } from "../../models/UpstreamFailed.ts"

/** What images of one request may still have together. Not shared between requests. */
export class Allowance {
  /** Bytes. */
  left: number

  constructor(bytes: number) {
    this.left = Math.max(0, bytes)
  }

  /** Takes as many; false: there are not as many left, and none are taken. */
  take(bytes: number): boolean {
    if (bytes > this.left) return false
    this.left -= bytes
    return true
  }
}

/** There is no image for this link. `why` is for the caller: what to mend, nothing of where the link led. */
export class ImageUnfetched extends Schema.TaggedError<ImageUnfetched>()("ImageUnfetched", { why: Schema.String }) {}

export interface ImageFetchService {
  /**
   * The image of an `http(s)` URL as a `data:` URL, within a bounded time of the real world. `owner`: for whom; each has a
   * share of what is under way. Too much under way: `UpstreamFailed` with `overloaded`.
   */
  readonly fetch: (
    owner: string,
    url: string,
    allowance: Allowance
  ) => Effect.Effect<string, ImageUnfetched | UpstreamFailed>
}

export const ImageFetch = Context.Reference<ImageFetchService | undefined>(
  "@sluice/domain/inference/images/ImageFetch",
  {
    defaultValue: () => undefined
  }
)
