/** The types of Kodelet hooks: an executable says with `<file> hook` which of them it is for. */

export const types = [
  "before_tool_call",
  "after_tool_call",
  "user_message_send",
  "after_turn",
  "turn_end",
  "agent_stop"
] as const

export type Type = (typeof types)[number]

/** The types that can refuse something. */
export const guards: ReadonlySet<Type> = new Set(["before_tool_call", "user_message_send"])
