/** Names under which clients reach a server. */

/** The names of this machine, which no other machine can have. */
export const loopbackNames: ReadonlyArray<string> = ["localhost", "127.0.0.1", "[::1]"]

/** Whether a text can be in the header `Host`. */
export const isHostName = (text: string): boolean =>
  text === "*" || /^(?:\[[0-9a-f:.]+\]|[a-z0-9_.-]+)(?::\d{1,5})?$/i.test(text)
