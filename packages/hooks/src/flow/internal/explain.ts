/** Says where the values of checked arguments came from. */
import type { HookState } from "@belay/core/HookState"
import type { Json } from "@belay/core/Json"
import type { Message } from "@belay/core/Message"
import { checksKey } from "./memory.ts"
import { leavesOf } from "./text/leaves.ts"

/** The parts of a session that `explain` reads. */
export interface ExplainedSession {
  readonly state: Pick<HookState, "all">
  /** A guarded session has none. */
  readonly messages?: ReadonlyArray<Message>
}

/** A checked argument of a call. */
export interface Explained {
  readonly callId: string
  readonly tool: string
  /** Where the value stands in the arguments, such as `to[0]`. */
  readonly argument: string
  /** The value, if the conversation still has the call. */
  readonly value?: Json
  readonly turn: number
  readonly step: number
  /** What grounds the value; absent if it was asked about or refused. */
  readonly grounded?: string
  /** Where the value was read, if nothing grounds it. */
  readonly source?: string
}

/** Returns every checked argument, the latest 100 at most. */
export const explainChecks = ({ messages = [], state }: ExplainedSession): ReadonlyArray<Explained> => {
  const args = new Map<string, Json>()
  for (const message of messages) {
    if (message.role !== "assistant") continue
    for (const call of message.toolCalls ?? []) args.set(call.id, call.args)
  }
  return [...state.all(checksKey).values()].flat().map((one) => {
    const leaf = leavesOf(args.get(one.callId)).find(({ place }) => place === one.argument)
    return leaf === undefined ? one : { ...one, value: leaf.value }
  })
}
