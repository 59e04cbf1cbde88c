/** The events of Windsurf. */

/** One event. */
interface EventRow {
  /** Exit code 2 blocks what is about to happen. */
  readonly gate?: true
  /** Exit code 2 shows standard error to the model. */
  readonly advises?: true
  /** `show_output` has no effect. */
  readonly silent?: true
}

const table = {
  pre_user_prompt: { gate: true, silent: true },
  pre_read_code: { gate: true },
  pre_write_code: { gate: true },
  pre_run_command: { gate: true },
  pre_mcp_tool_use: { gate: true },
  post_read_code: { advises: true },
  post_write_code: { advises: true },
  post_run_command: { advises: true },
  post_mcp_tool_use: { advises: true },
  post_cascade_response: { silent: true },
  post_cascade_response_with_transcript: { silent: true },
  post_setup_worktree: {}
} as const satisfies { readonly [event: string]: EventRow }

/** The name of an event. */
export type EventName = keyof typeof table

export const names = Object.keys(table) as ReadonlyArray<EventName>

export const isEvent = (name: string): name is EventName => Object.hasOwn(table, name)

export const rowOf = (event: EventName): EventRow => table[event]
