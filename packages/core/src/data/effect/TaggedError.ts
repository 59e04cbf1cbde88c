/**
 * The base of all errors of Belay: `Schema.TaggedError`, printed like any other error.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/**
 * Makes the base class of an error with a tag and fields, like `Schema.TaggedError`. `console.log(error)` shows its
 * name, its message, its stack and its fields.
 *
 * @example
 * ```ts
 * import { TaggedError } from "@belay/core/TaggedError"
 * import * as Schema from "effect/Schema"
 *
 * class OutOfPaper extends TaggedError<OutOfPaper>()("OutOfPaper", { tray: Schema.Finite, message: Schema.String }) {}
 *
 * console.log(new OutOfPaper({ tray: 2, message: "tray 2 is empty" }))
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const TaggedError: typeof Schema.TaggedError = ((identifier?: string) => {
  const tagged = Schema.TaggedError<object>(identifier)
  return (tag: string, fields: Schema.Struct.Fields, annotations?: never) => {
    const Base = tagged(tag, fields, annotations)
    // Schema classes print their fields alone. Without a function of its own, an error prints like any other error.
    Object.defineProperty(Base.prototype, Symbol.for("nodejs.util.inspect.custom"), { value: undefined })
    return Base
  }
  // The classes are those of `Schema.TaggedError`.
}) as never
