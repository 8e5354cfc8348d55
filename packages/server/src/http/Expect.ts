/** What a request's `Expect` asks for. `100-continue` Node meets, before anybody here hears of the request. */
import type { IncomingMessage } from "node:http"

/** Whether it asks for something else. */
export const isUnmet = ({ headers: { expect } }: IncomingMessage): boolean =>
  expect !== undefined && !/100-continue/i.test(expect)
