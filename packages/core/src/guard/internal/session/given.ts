/** Checks what a driver gives to a guard. A program without types can give anything. */
import { isObject } from "effect/Predicate"
import { SessionError } from "../../../data/AgentError.ts"
import type { LlmResponse } from "../../../data/LlmCall.ts"
import { show } from "../../../data/option/OptionCheck.ts"
import { table } from "../../../hook/HookPoint.ts"

/** The fields that a value must have, and their kinds. */
export type GivenFields<A> = { readonly [K in keyof A]?: "text" | "list" | "object" | "response" }

/** Whether hooks find the text and the calls of an answer. The answer of a vendor has them elsewhere. */
const isResponse = (value: unknown): boolean =>
  // The check accepts any value.
  table.postLlmCall.wrong(value as never) === undefined &&
  (value as LlmResponse).toolCalls.every((call: unknown) =>
    typeof Object(call).id === "string" && typeof Object(call).name === "string"
  )

const kinds: { readonly [kind: string]: readonly [what: string, isOne: (value: unknown) => boolean] } = {
  text: ["a text", (value) => typeof value === "string"],
  list: ["a list", Array.isArray],
  object: ["an object", isObject],
  response: ["an object with a string `text` and a list `toolCalls` of calls with `id` and `name`", isResponse]
}

/** Returns the error of a method of the guard, if what it was given is not an object with these fields. */
export const wrongGiven = <A>(
  sessionId: string,
  point: string,
  value: A,
  fields: GivenFields<A>
): SessionError | undefined => {
  const why = whyWrong(value, fields)
  return why === undefined
    ? undefined
    : new SessionError({ sessionId, problem: "wrong-input", message: `${point} of the guard: ${why}` })
}

const whyWrong = (value: unknown, fields: object): string | undefined => {
  if (!isObject(value)) return `expected an object, found ${show(value)}`
  for (const [field, kind] of Object.entries(fields)) {
    const [what, isOne] = kinds[kind as string]!
    const found: unknown = Reflect.get(value, field)
    if (!isOne(found)) return `${field}: expected ${what}, found ${show(found)}`
  }
  return undefined
}
