/** Describes where a text is not valid JSON. */
import * as Result from "effect/Result"
import { parse, type ParseError, printParseErrorCode } from "jsonc-parser"

/** Describes why a text is not a JSON object. `comments` allows comments in the text. */
export const whyNoObject = (text: string, comments = false): string => {
  const plain = text.replace(/^\uFEFF/, "")
  const errors: Array<ParseError> = []
  // `parse` throws if the JSON is nested too deeply.
  Result.try(() =>
    parse(plain, errors, { disallowComments: !comments, allowTrailingComma: false, allowEmptyContent: false })
  )
  const [first] = errors
  if (first === undefined) return "is not a JSON object"
  const before = plain.slice(0, first.offset).split(/\r\n|\r|\n/)
  const what = printParseErrorCode(first.error).replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
    .toLowerCase()
  return `is not JSON: ${what} at line ${before.length}, column ${before.at(-1)!.length + 1}`
}
