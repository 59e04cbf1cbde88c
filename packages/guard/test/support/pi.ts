/** Fires the events of an extension as pi does. */
import type * as Pi from "../../src/Pi.ts"

type Handler = (event: object, context: object) => Promise<unknown>

interface Surroundings {
  /** Fields of the context that differ from those of a conversation in which nobody can be asked. */
  readonly context?: object
  readonly tools?: ReadonlyArray<object>
}

/** Loads an extension. Returns the function that fires an event, and returns what the handler answers. */
export const events = (extension: ReturnType<typeof Pi.make>, { context = {}, tools = [] }: Surroundings = {}) => {
  const handlers = new Map<string, Handler>()
  extension({ on: (event: string, handler: Handler) => handlers.set(event, handler), getAllTools: () => tools })
  const whole = {
    hasUI: false,
    signal: undefined,
    abort: () => {},
    sessionManager: { getSessionId: () => "s" },
    ui: { notify: () => {} },
    ...context
  }
  return async (event: string, fields: object = {}) => await handlers.get(event)?.(fields, whole)
}
