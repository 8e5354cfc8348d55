/**
 * The port that fetches images that a caller names by link. Undefined unless the operator allows links; then links are
 * refused. The implementation must not reach private addresses, and its errors must not describe them.
 */
import { Context, Schema } from "effect"
import type { Effect } from "effect"
import type { UpstreamFailed } from "../../models/UpstreamFailed.ts"

/** The bytes that the images of one request may still take together. Each request has its own. */
export class Allowance {
  /** Bytes. */
  left: number

  constructor(bytes: number) {
    this.left = Math.max(0, bytes)
  }

  /** Takes `bytes`. False if fewer are left; then none are taken. */
  take(bytes: number): boolean {
    if (bytes > this.left) return false
    this.left -= bytes
    return true
  }
}

/** The link gives no image. `why` is for the caller: the mistake in the link, without details of the target. */
export class ImageUnfetched extends Schema.TaggedError<ImageUnfetched>()("ImageUnfetched", { why: Schema.String }) {}

export interface ImageFetchService {
  /**
   * Returns the image of an `http(s)` URL as a `data:` URL, within a time limit in real time. `owner`: the workspace;
   * each has a fair share of concurrent fetches. Fails with `UpstreamFailed` ("overloaded") if too many fetches run.
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
