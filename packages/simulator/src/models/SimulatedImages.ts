/**
 * Draws pictures from a prompt: a sky that goes from one color to another, and discs in front of it. The same prompt
 * always gives the same pictures, to the byte.
 */
import type { ImageModel, ImageProvider } from "@sluice/domain/models/ModelProvider"
import { Effect } from "effect"
import { between, textHash, unit } from "./Draws.ts"
import { png } from "./Png.ts"
import type { Beside } from "./Studio.ts"

const DISCS = 6

export const simulatedImages = (
  seed: number,
  models: ReadonlyArray<ImageModel>,
  latencyMs: number,
  beside: Beside
): ImageProvider => ({
  models,
  generate: (model, { count, prompt, size }) => {
    const key = textHash(textHash(seed, model.id), prompt)
    return Effect.andThen(
      Effect.sleep(latencyMs),
      Effect.map(
        Effect.forEach(Array.from({ length: count }), (_, n) => picture(textHash(key, `picture ${n}`), size, beside)),
        (files) => ({ format: "png" as const, files })
      )
    )
  }
})

const picture = (key: number, size: string, beside: Beside) => {
  const [width = 0, height = 0] = size.split("x").map(Number)
  const least = Math.min(width, height)
  const [top, bottom] = [colour(key, 0), colour(key, 3)]
  const discs = Array.from({ length: DISCS }, (_, n) => ({
    x: unit(key, 10 + n) * width,
    y: unit(key, 30 + n) * height,
    radius: (0.05 + 0.2 * unit(key, 50 + n)) * least,
    colour: colour(key, 70 + 3 * n)
  }))
  const row = (y: number, pixels: Uint8Array) => {
    const part = y / height
    const sky = top.map((from, i) => from + (bottom[i]! - from) * part)
    // Discs are drawn one after the other, those behind first.
    for (let x = 0; x < width; x++) pixels.set(sky, 3 * x)
    for (const disc of discs) {
      const half = Math.sqrt(Math.max(0, disc.radius ** 2 - (y - disc.y) ** 2))
      if (half === 0) continue
      const until = Math.min(width, Math.ceil(disc.x + half))
      for (let x = Math.max(0, Math.floor(disc.x - half)); x < until; x++) pixels.set(disc.colour, 3 * x)
    }
  }
  return png(width, height, row, beside)
}

const colour = (key: number, n: number): ReadonlyArray<number> => [0, 1, 2].map((i) => between(key, n + i, 30, 225))
