/** Calls the hooks of the options as the Claude Agent SDK does. */

type Callback = (input: object, id: undefined, options: { readonly signal: AbortSignal }) => Promise<object>

/** Returns a function that fires an event with the fields that the SDK documents. */
export const firing =
  (options: { readonly hooks?: Record<string, ReadonlyArray<object>> }) =>
  async (event: string, fields: object = {}, signal = new AbortController().signal) => {
    const matcher = options.hooks?.[event]?.at(-1) as { readonly hooks: ReadonlyArray<Callback> } | undefined
    return await matcher?.hooks[0]?.({ hook_event_name: event, session_id: "x", cwd: "/", ...fields }, undefined, {
      signal
    })
  }
