/** Conversations drawn at random, each as the items of a response and as the messages of a chat. */
import fc from "fast-check"

export interface Turn {
  readonly items: ReadonlyArray<Readonly<Record<string, unknown>>>
  readonly messages: ReadonlyArray<Readonly<Record<string, unknown>>>
}

const text = fc.string({ maxLength: 20, unit: "grapheme" })
const name = fc.stringMatching(/^[a-z_]{1,12}$/)

const said = fc.tuple(fc.constantFrom("user", "system", "developer"), text).map(([role, content]): Turn => ({
  items: [{ role, content }],
  messages: [{ role, content }]
}))

const answered = text.map((content): Turn => ({
  items: [
    { type: "reasoning", id: "rs_1", summary: [] },
    { type: "message", role: "assistant", content: [{ type: "output_text", text: content, annotations: [] }] }
  ],
  messages: [{ role: "assistant", content }]
}))

const called = fc
  .tuple(fc.option(text), fc.array(fc.tuple(name, text, text), { minLength: 1, maxLength: 3 }))
  .map(([before, calls]): Turn => ({
    items: [
      ...(before === null ? [] : [{ role: "assistant", content: before }]),
      ...calls.map(([name, input], n) => ({ type: "function_call", call_id: `call_${n}`, name, arguments: input })),
      ...calls.map(([, , output], n) => ({ type: "function_call_output", call_id: `call_${n}`, output }))
    ],
    messages: [
      {
        role: "assistant",
        content: before,
        tool_calls: calls.map(([name, input], n) => ({
          id: `call_${n}`,
          type: "function",
          function: { name, arguments: input }
        }))
      },
      ...calls.map(([, , content], n) => ({ role: "tool", tool_call_id: `call_${n}`, content }))
    ]
  }))

export const turns = fc.array(fc.oneof(said, answered, called), { minLength: 1, maxLength: 6 })

/** Names of tools, each once. */
export const functionNames = fc.uniqueArray(name, { maxLength: 5 })
