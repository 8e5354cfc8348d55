/** The numbers of a seed never change, so that a seed gives the same world in every version. */
import { assert, it } from "@effect/vitest"
import { between, chance, draw, hash32 } from "../src/Chance.ts"
import { textHash, unit } from "@sluice/simulator/models/Draws"

const DRAWN: Array<[seed: number, name: string, hash: number, text: number, unit: number]> = [
  [0, "", 2_872_998_923, 3_770_332_432, 0.6589064300060272],
  [42, "job-1", 222_327_968, 1_022_473_243, 0.3818184535484761],
  [-1, "é", 4_013_534_851, 3_034_374_442, 0.5224800889845937],
  [2 ** 31, "late", 1_756_851_656, 3_976_878_823, 0.8215106031857431],
  [2 ** 40 + 7, "x".repeat(100), 3_205_953_350, 1_634_424_385, 0.6619503514375538]
]

it("a draw depends only on its seed and its name, in every version", () => {
  assert.deepStrictEqual(
    DRAWN.map(([seed, name]) => [seed, name, hash32(seed, name), textHash(seed, name), unit(textHash(seed, name), 3)]),
    DRAWN
  )
  assert.strictEqual(chance(42).draw("job-1"), 222_327_968 / 2 ** 32)
  assert.strictEqual(between(draw(42, "job-1"), 2, 9), 2)
})
