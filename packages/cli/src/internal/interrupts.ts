/** Who handles Ctrl-C. Without a handler, Ctrl-C ends the process. */

let handler: (() => boolean) | undefined

/** Handles Ctrl-C until the returned function is called. A handler that returns false lets the process end. */
export const handleInterrupts = (handle: () => boolean): () => void => {
  handler = handle
  return () => {
    if (handler === handle) handler = undefined
  }
}

/** Returns whether somebody has handled it. */
export const isInterruptHandled = (): boolean => handler?.() ?? false
