/**
 * Answers of POST /images/generations on the wire: the schema for the OpenAPI document and clients, and the text that
 * the server sends.
 */
import { toUsd } from "@sluice/domain/billing/Money"
import { IMAGE_FORMATS } from "@sluice/domain/models/ImageFormat"
import type { ImageAnswer } from "@sluice/domain/inference/images/Images"
import * as Schema from "effect/Schema"

export const ImageListWire = Schema.Struct({
  created: Schema.Int.annotate({ description: "Unix time in seconds" }),
  data: Schema.Array(
    Schema.Struct({
      b64_json: Schema.optionalKey(Schema.String.annotate({ description: "base64 of the file" })),
      url: Schema.optionalKey(
        Schema.String.annotate({ description: "A link that needs no key and is valid for an hour" })
      )
    })
  ),
  size: Schema.String,
  output_format: Schema.Literals(IMAGE_FORMATS).annotate({ description: "Format of the files" }),
  usage: Schema.Struct({
    input_tokens: Schema.Int,
    input_tokens_details: Schema.Struct({ text_tokens: Schema.Int, image_tokens: Schema.Int }),
    output_tokens: Schema.Int,
    total_tokens: Schema.Int,
    cost: Schema.Finite.annotate({ description: "USD" })
  })
}).annotate({ identifier: "ImageList" })

/** Returns the body with the images, each as base64 or as a link. */
export const imageListText = (
  data: ReadonlyArray<{ readonly b64_json: string } | { readonly url: string }>,
  answer: ImageAnswer
): string =>
  JSON.stringify({
    created: answer.created,
    data,
    size: answer.size,
    output_format: answer.format,
    usage: {
      input_tokens: answer.promptTokens,
      input_tokens_details: { text_tokens: answer.promptTokens, image_tokens: 0 },
      output_tokens: 0,
      total_tokens: answer.promptTokens,
      cost: toUsd(answer.cost)
    }
  } satisfies typeof ImageListWire.Type)
