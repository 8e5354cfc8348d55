/** Image types: recognised by their bytes alone; of large images only the ends are read. */
import { expect, it } from "@effect/vitest"
import { decodeChat } from "@sluice/domain/inference/chat/Chat"
import { plainImageUrl } from "@sluice/domain/inference/images/ImageUrl"
import { decodeResponse } from "@sluice/domain/inference/responses/ResponseRequest"
import { decodeVideo } from "@sluice/domain/videos/VideoRequest"
import { Result } from "effect"

const base64 = (bytes: string) => Buffer.from(bytes, "latin1").toString("base64")
const plain = (url: string) => Result.merge(plainImageUrl(url, "here"))
const fault = (text: string) => {
  const result = plainImageUrl(`data:image/png;base64,${text}`, "here")
  return Result.isFailure(result) ? result.failure : undefined
}
const png = "\x89PNG\r\n\x1a\n"
const large = base64(`${png}${"x".repeat(1_000)}`)

it("an image has the type of its bytes, whatever type it claims", () => {
  const others = ["\xff\xd8\xff\xe0", "RIFF\0\0\0\0WEBPVP8 ", "GIF89a"]
  for (const image of [base64(png), large, ...others.map(base64)]) {
    for (const text of [image, `${image.match(/.{1,8}/g)!.join("\r\n")}\n`, image.replaceAll("=", "")]) {
      expect([text, fault(text)]).toEqual([text, undefined])
    }
  }
})

it("bytes that are no image are refused", () => {
  for (const [text, why] of [
    ["", "is empty"],
    ["!!!!", "must be in base64"],
    [`${base64(png)}!`, "must be in base64"],
    [`${large}!`, "must be in base64"],
    [`${large.slice(0, 20)}!${large}`, "must be in base64"],
    [`${large}===`, "must be in base64"],
    ["iVBORw0KGgo%3", "must be in base64"],
    ["iVBORw0KG%zz", "must be in base64"],
    ["iVBORw0KG%", "must be in base64"],
    ["iVBORw0KGg", "must be PNG"],
    [" %20\n", "is empty"],
    [base64("hello"), "must be PNG"],
    [base64("<svg xmlns='http://www.w3.org/2000/svg'/>"), "must be PNG"],
    [base64("RIFF\0\0\0\0WAVEfmt "), "must be PNG"]
  ] as const) {
    expect([text, fault(text)]).toEqual([text, expect.stringContaining(`'here': the image ${why}`)])
  }
})

const IMAGE = base64(`${png}-`)
const LONG = base64(`${png}${"\xff\xfb".repeat(90)}`)

it.each([
  ["a parameter", `data:image/png;charset=utf-8;base64,${IMAGE}`, IMAGE],
  ["two parameters", `data:image/png;name=a.png;charset=utf-8;base64,${IMAGE}`, IMAGE],
  ["no media type", `data:;base64,${IMAGE}`, IMAGE],
  ["a media type that is no image's", `data:application/octet-stream;base64,${IMAGE}`, IMAGE],
  ["capitals", `DATA:Image/PNG;charset=UTF-8;BASE64,${IMAGE}`, IMAGE],
  ["blanks around its words", ` data:image/png; base64 ,${IMAGE} `, IMAGE],
  ["percent-encoded padding", `data:image/png;base64,${IMAGE.replaceAll("=", "%3D")}`, IMAGE],
  ["percent-encoded data", `data:image/png;base64,${encodeURIComponent(LONG)}`, LONG],
  ["no padding", `data:image/png;base64,${IMAGE.replaceAll("=", "")}`, IMAGE],
  ["blanks", `data:image/png;base64,${LONG.match(/.{1,40}/g)!.join(" ")}`, LONG],
  ["line breaks deep inside", `data:image/png;base64,${LONG.slice(0, 150)}\r\n\t\f${LONG.slice(150)}`, LONG]
])("a data: URL with %s is read as browsers read it, and every model gets it plain", (_, url, data) => {
  expect(LONG).toMatch(/[+/]/)
  expect(plain(url)).toBe(`data:image/png;base64,${data}`)
  const [content, input] = [[{ type: "image_url", image_url: { url } }], [{ type: "input_image", image_url: url }]]
  const chat = Result.getOrThrow(decodeChat({ model: "m", messages: [{ role: "user", content }] }))
  const response = Result.getOrThrow(decodeResponse({ model: "m", input: [{ role: "user", content: input }] }))
  for (const { messages } of [chat, response.chat]) expect(messages[0]!.images[0]!.url).toBe(plain(url))
  const video = Result.getOrThrow(decodeVideo({ model: "m", prompt: "a", input_reference: { image_url: url } }))
  expect(video.image?.contentType).toBe("image/png")
  expect(Buffer.from(video.image!.bytes).toString("base64")).toBe(data)
})

it("an image whose URL is plain keeps it, whatever type it gives", () => {
  for (const url of [`data:image/png;base64,${LONG}`, `data:image/jpeg;base64,${IMAGE}`]) expect(plain(url)).toBe(url)
})
