/** The format of an image by its first bytes, because a file name or a header may be wrong. */

export const IMAGE_FORMATS = ["png", "jpeg", "webp"] as const
export type ImageFormat = (typeof IMAGE_FORMATS)[number]

/** Undefined: an unknown format. */
export const imageFormatOf = (bytes: Uint8Array): ImageFormat | undefined => {
  if (has(bytes, 0, 0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a)) return "png"
  if (has(bytes, 0, 0xff, 0xd8, 0xff)) return "jpeg"
  // Audio files are RIFF too; the format name follows the length.
  if (has(bytes, 0, 0x52, 0x49, 0x46, 0x46) && has(bytes, 8, 0x57, 0x45, 0x42, 0x50)) return "webp"
  return undefined
}

export const imageType = (format: ImageFormat) => `image/${format}` as const

/** Returns the media type of an image that chats accept, GIF included, which no image model makes; undefined for anything else. */
export const shownTypeOf = (bytes: Uint8Array): string | undefined => {
  const format = imageFormatOf(bytes)
  if (format !== undefined) return imageType(format)
  return has(bytes, 0, 0x47, 0x49, 0x46, 0x38) ? "image/gif" : undefined
}

const has = (bytes: Uint8Array, at: number, ...wanted: ReadonlyArray<number>): boolean =>
  wanted.every((byte, i) => bytes[at + i] === byte)
