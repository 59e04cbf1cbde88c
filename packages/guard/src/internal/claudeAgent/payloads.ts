/** What the hooks of the Claude Agent SDK receive and answer, as far as the guard reads it. */

/** The fields of all events, and those of the events that the guard handles. */
export interface Payload {
  readonly hook_event_name: string
  readonly agent_id?: string
  readonly agent_type?: string
  readonly tool_name?: string
  readonly tool_input?: unknown
  readonly tool_use_id?: string
  readonly tool_response?: unknown
  readonly duration_ms?: number
  readonly error?: string
  readonly prompt?: string
  readonly last_assistant_message?: string
}

/** The answer to an event. */
export interface HookOutput {
  continue?: boolean
  stopReason?: string
  decision?: "block"
  reason?: string
  hookSpecificOutput?: never
}

/** Makes an answer of the event. Its type differs from event to event, and the SDK checks it. */
export const specific = (hookEventName: string, fields: object): HookOutput => ({
  hookSpecificOutput: { hookEventName, ...fields } as never
})

/** The texts that hooks have injected, as the model reads them. */
export const contextOf = (
  context: ReadonlyArray<{ readonly text: string }>
): { readonly additionalContext?: string } =>
  context.length === 0 ? {} : { additionalContext: context.map(({ text }) => text).join("\n\n") }

/** A callback for events. */
export type Callback = (
  input: Payload,
  toolUseId: string | undefined,
  options: { readonly signal: AbortSignal }
) => Promise<HookOutput>

/** Answers whether a tool may run, as the program's `canUseTool` does. */
export type CanUseTool = (
  name: string,
  input: { [key: string]: unknown },
  // oxlint-disable-next-line typescript/no-explicit-any -- the SDK adds fields from version to version
  options: any
  // oxlint-disable-next-line typescript/no-explicit-any -- as above
) => Promise<any>
