/** Draws the likelihoods of a simulated model's tokens. Its tokens are words with the space before them. */
import type { OutputToken } from "@sluice/domain/models/ModelProvider"
import { textHash, unit } from "./Draws.ts"

const OTHERS = " the| a| and| of| to| it| is| in| for| that| with| on| as| by| this| so| one| or| not| all".split("|")

/**
 * Returns the `n`-th token of an answer with `top` tokens in its place, itself among them. Their likelihoods sum to
 * less than one.
 */
export const drawLogprobs = (token: string, top: number, key: number, n: number): OutputToken => {
  const own = 0.5 + 0.49 * unit(key, 200_000 + n)
  const first = textHash(key, `others ${n}`) % OTHERS.length
  let left = 1 - own
  const others = Array.from({ length: Math.min(top, OTHERS.length) }, (_, i) => OTHERS[(first + i) % OTHERS.length]!)
    .filter((other) => other !== token)
    .map((other) => {
      left /= 2
      return { token: other, logprob: logOf(left) }
    })
  const said = { token, logprob: logOf(own) }
  return { ...said, top: top === 0 ? [] : [said, ...others].slice(0, top) }
}

/** Nine digits are enough. */
const logOf = (chance: number): number => Number(Math.log(chance).toFixed(9))
