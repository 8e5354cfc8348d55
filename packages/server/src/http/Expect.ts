/** Checks the `Expect` header of a request. Node itself answers `100-continue` before this code sees the request. */
import type { IncomingMessage } from "node:http"

/** True where the header expects anything else. */
export const hasUnmetExpectation = ({ headers: { expect } }: IncomingMessage): boolean =>
  expect !== undefined && !/100-continue/i.test(expect)
