/** Arbitrary valid conversations. */
import type { Message } from "@belay/core/Message"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"

/** A step of the model that calls tools, with their results. */
export const step = (id: string, calls: number, result = `result of ${id}`, name = "look"): ReadonlyArray<Message> => [
  {
    role: "assistant",
    content: "",
    reasoning: `thinking about ${id}`,
    toolCalls: Array.from({ length: calls }, (_, n) => ({ id: `${id}-${n}`, name, args: { what: `${id} ${n}` } }))
  },
  ...Array.from(
    { length: calls },
    (_, n): Message => ({ role: "tool", toolCallId: `${id}-${n}`, toolName: name, content: result })
  )
]

const kinds = ["user", "assistant", "pinned", "injected", 1, 2, 3] as const

/** Any valid conversation. */
export const transcripts: Arbitrary.Arbitrary<ReadonlyArray<Message>> = Arbitrary.map(
  Arbitrary.schema(Schema.Array(Schema.Literals(kinds))),
  (shape) =>
    shape.flatMap((kind, index): ReadonlyArray<Message> =>
      typeof kind === "number"
        ? step(`call${index}`, kind, `result ${index} `.repeat(10))
        : kind === "assistant"
        ? [{ role: "assistant", content: `answer ${index}` }]
        : [{
          role: "user",
          content: `${kind} ${index}`,
          ...(kind === "pinned"
            ? { pinned: true, source: "pinner" }
            : kind === "injected"
            ? { source: "injector" }
            : {})
        }]
    )
)
