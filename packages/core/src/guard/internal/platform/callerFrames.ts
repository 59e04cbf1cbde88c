/** The stacks of errors that a program receives: they begin where the program called Belay. */

/**
 * Puts the frames of the program at the beginning of the stack of an error. Call it directly in the function that the
 * program awaits.
 */
export const withCallerFrames = (error: unknown): unknown => {
  // The first two frames are this function and the one that the program awaits.
  const callers = framesOf(new Error().stack).slice(2).filter((frame) => !frame.includes("node:internal"))
  if (callers.length > 0) prepend(error, callers)
  return error
}

/** Makes the stack of an error begin at the caller of `callee`. */
export const withFramesAbove = (error: unknown, callee: Function): unknown => {
  const here: { readonly stack?: string } = {}
  // Only V8 has the function.
  Error.captureStackTrace?.(here, callee)
  prepend(error, framesOf(here.stack))
  return error
}

const prepend = (error: unknown, callers: ReadonlyArray<string>): void => {
  if (!(error instanceof Error) || Object.isFrozen(error)) return
  const { stack = `${error.name}: ${error.message}` } = error
  const frames = framesOf(stack)
  const header = frames.length === 0 ? stack : stack.slice(0, stack.indexOf(frames[0]!)).trimEnd()
  const inside = frames.filter((frame) => !callers.includes(frame) && !frame.includes("/node_modules/effect/"))
  const value = [header, ...callers, ...inside].join("\n")
  Object.defineProperty(error, "stack", { value, configurable: true, writable: true })
}

const framesOf = (stack: string | undefined): ReadonlyArray<string> =>
  stack === undefined ? [] : stack.split("\n").filter((line) => line.startsWith("    at "))
