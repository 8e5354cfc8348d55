/**
 * An error of the inference surface in the form of OpenAI's clients, and constructors for the kinds that several
 * failures share.
 */
export interface InferenceWireError {
  readonly status: number
  readonly type: string
  readonly code: string | null
  readonly message: string
  readonly param?: string | null
  readonly headers?: Readonly<Record<string, string>>
}

/** Returns the body of an error, which is also the data of an error event in a stream. */
export const inferenceErrorText = (error: InferenceWireError, requestId: string): string =>
  JSON.stringify({
    error: {
      message: error.message,
      type: error.type,
      code: error.code,
      param: error.param ?? null,
      request_id: requestId
    }
  })

export const invalidRequest = (
  status: number,
  code: string | null,
  message: string,
  param: string | null = null
): InferenceWireError => ({ status, type: "invalid_request_error", code, message, param })

export const unavailable = (code: string, message: string): InferenceWireError => ({
  status: 503,
  type: "overloaded_error",
  code,
  message,
  headers: { "retry-after": "5" }
})

/** Marks an error that a retry would get again. */
export const withoutRetry = (error: InferenceWireError): InferenceWireError => ({
  ...error,
  headers: { "x-should-retry": "false" }
})

export const badGateway = (code: string, message: string): InferenceWireError => ({
  status: 502,
  type: "upstream_error",
  code,
  message
})
