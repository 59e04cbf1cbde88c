/** Reads what a core returned. A core may be a program without types. */
import { PortFailed } from "../../../data/AgentError.ts"
import type { CoreOutput } from "../../AgentCore.ts"

/** Returns the output, or the error for a value that is not one. */
export const readOutput = (coreType: string, output: unknown): CoreOutput | PortFailed => {
  const problem = problemOf(output)
  return problem === undefined
    // `problemOf` has checked the fields.
    ? output as CoreOutput
    : new PortFailed({
      port: coreType,
      message: `the core ${coreType} returned something that is not an output: ${problem}; ` +
        "it returns { text, finishReason }",
      cause: output
    })
}

const problemOf = (output: unknown): string | undefined => {
  if (typeof output !== "object" || output === null) return `it is ${show(output)}`
  // It is an object, so any key may be read.
  const { finishReason, text } = output as { readonly [key: string]: unknown }
  if (typeof text !== "string") return `text is ${show(text)}`
  return typeof finishReason === "string" ? undefined : `finishReason is ${show(finishReason)}`
}

const show = (value: unknown): string => {
  if (value === null || value === undefined || typeof value === "number") return String(value)
  return typeof value === "object" ? "an object" : `a ${typeof value}`
}
