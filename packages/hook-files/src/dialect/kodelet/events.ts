/** The types of Kodelet hooks. `<file> hook` prints the type of an executable. */

export const types = [
  "before_tool_call",
  "after_tool_call",
  "user_message_send",
  "after_turn",
  "turn_end",
  "agent_stop"
] as const

export type Type = (typeof types)[number]

/** The types of hooks that can block. */
export const guards: ReadonlySet<Type> = new Set(["before_tool_call", "user_message_send"])
