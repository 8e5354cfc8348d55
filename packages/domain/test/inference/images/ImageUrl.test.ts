/** The images of a question: what their bytes are, and no other; of large ones only the ends are looked at. */
import { expect, it } from "@effect/vitest"
import { findImageMistake } from "@sluice/domain/inference/images/ImageUrl"

const base64 = (bytes: string) => Buffer.from(bytes, "latin1").toString("base64")
const fault = (text: string) => findImageMistake(`data:image/png;base64,${text}`, "here")
const png = "\x89PNG\r\n\x1a\n"
const large = base64(`${png}${"x".repeat(1_000)}`)

it("takes an image for what its bytes are, whatever it is called", () => {
  const others = ["\xff\xd8\xff\xe0", "RIFF\0\0\0\0WEBPVP8 ", "GIF89a"]
  for (const image of [base64(png), large, ...others.map(base64)]) {
    for (const text of [image, `${image.match(/.{1,8}/g)!.join("\r\n")}\n`]) {
      expect([text, fault(text)]).toEqual([text, undefined])
    }
  }
})

it("refuses what is no image", () => {
  for (const [text, why] of [
    ["", "is empty"],
    ["!!!!", "must be in base64"],
    [`${base64(png)}!`, "must be in base64"],
    [`${large}!`, "must be in base64"],
    [`${large.slice(0, 20)}!${large}`, "must be in base64"],
    [`${large}===`, "must be in base64"],
    ["iVBORw0KGg", "must be in base64"],
    [base64("hello"), "must be PNG"],
    [base64("<svg xmlns='http://www.w3.org/2000/svg'/>"), "must be PNG"],
    [base64("RIFF\0\0\0\0WAVEfmt "), "must be PNG"]
  ] as const) {
    expect([text, fault(text)]).toEqual([text, expect.stringContaining(`'here': the image ${why}`)])
  }
})
