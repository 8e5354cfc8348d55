/**
 * Draws the frames of a simulated video: a sky that changes its color, and discs that cross it, in planar YUV 4:2:0,
 * the form that encoders take. A frame depends only on the key and its moment.
 */
import { between, unit } from "./Draws.ts"

export const FRAMES_PER_SECOND = 12
const DISCS = 5

interface Disc {
  readonly x: number
  readonly y: number
  readonly radius: number
  readonly speed: number
  readonly colour: Yuv
}

type Yuv = readonly [number, number, number]

/** Fills `frame` (width * height * 3 / 2 bytes) with the picture at `part` of the video, 0 to 1. */
export const drawFrame = (frame: Uint8Array, width: number, height: number, key: number, part: number): void => {
  const [top, bottom] = [colour(key, 0), colour(key, 3)]
  const discs = Array.from({ length: DISCS }, (_, n) => discOf(key, n, width, height))
  for (const [plane, scale, offset] of planesOf(width, height)) {
    const [columns, rows] = [width / scale, height / scale]
    for (let row = 0; row < rows; row++) {
      const y = (row * scale) / height
      const depth = Math.min(1, Math.max(0, y * (0.6 + 0.8 * part)))
      const start = offset + row * columns
      frame.fill(Math.round(top[plane] + (bottom[plane] - top[plane]) * depth), start, start + columns)
      for (const disc of discs) {
        const centre = ((disc.x + disc.speed * part + 4) % 1.4) * width - 0.2 * width
        const half = Math.sqrt(Math.max(0, disc.radius ** 2 - (row * scale - disc.y) ** 2))
        if (half === 0) continue
        const from = Math.max(0, Math.floor((centre - half) / scale))
        const to = Math.min(columns, Math.ceil((centre + half) / scale))
        if (to > from) frame.fill(disc.colour[plane], start + from, start + to)
      }
    }
  }
}

/** The planes: brightness in full size, then both colors in half size. */
const planesOf = (width: number, height: number) =>
  [
    [0, 1, 0],
    [1, 2, width * height],
    [2, 2, (width * height * 5) / 4]
  ] as const

const discOf = (key: number, n: number, width: number, height: number): Disc => ({
  x: unit(key, 10 + n) * 1.4,
  y: unit(key, 30 + n) * height,
  radius: (0.05 + 0.2 * unit(key, 50 + n)) * Math.min(width, height),
  speed: 0.4 + 1.6 * unit(key, 70 + n),
  colour: colour(key, 90 + 3 * n)
})

const colour = (key: number, n: number): Yuv => [
  between(key, n, 50, 220),
  between(key, n + 1, 70, 190),
  between(key, n + 2, 70, 190)
]
