/**
 * Checks what hooks of untyped programs pass to `ctx`, so that the hook that makes the mistake is the one that fails.
 */

/** Throws if the argument of `ctx.method` is not a text. */
export const requireText = (method: string, value: unknown): void => {
  if (typeof value !== "string") throw wrongArgument(method, "a text", value)
}

/** Throws if the options of `ctx.inject` are not its options. */
export const requireInjectOptions = (options: unknown): void => {
  if (options === undefined) return
  if (typeof options !== "object" || options === null) throw wrongArgument("inject", "an object with options", options)
  const { key, mode, pinned } = options as { readonly [key: string]: unknown }
  if (key !== undefined && typeof key !== "string") throw wrongArgument("inject", "a text as `key`", key)
  if (mode !== undefined && mode !== "append" && mode !== "overwrite") {
    throw wrongArgument("inject", "append or overwrite as `mode`", mode)
  }
  if (pinned !== undefined && typeof pinned !== "boolean") {
    throw wrongArgument("inject", "true or false as `pinned`", pinned)
  }
}

/** Throws if the request of `ctx.llm` has no prompt. */
export const requirePrompt = (request: unknown): void => {
  const prompt: unknown = typeof request === "object" && request !== null && "prompt" in request
    ? request.prompt
    : undefined
  if (typeof prompt !== "string" && !Array.isArray(prompt)) {
    throw wrongArgument("llm", "an object with a `prompt`, which is a text or a list of messages", request)
  }
}

/** Throws if what `state.update` applies to the value of a key is not a function. */
export const requireChange = (key: string, change: unknown): void => {
  if (typeof change === "function") return
  throw new TypeError(`state.update: expected a function of the value of ${key}, found ${shown(change)}`)
}

const wrongArgument = (method: string, expected: string, found: unknown): TypeError =>
  new TypeError(`ctx.${method}: expected ${expected}, found ${shown(found)}`)

const shown = (value: unknown): string =>
  value === null ? "null" : typeof value === "string" ? JSON.stringify(value) : typeof value
