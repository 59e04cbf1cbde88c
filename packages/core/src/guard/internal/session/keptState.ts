/** What the guard of a driver stores with a session. No hook can change it. */
import * as Schema from "effect/Schema"
import { JsonValue, type Message } from "../../../data/Message.ts"
import type { ToolMeta } from "../../../data/tool/Tool.ts"
import * as HookState from "../../../hook/HookState.ts"
import type { SessionState } from "../state/sessionState.ts"

/**
 * What outlives the process, beside the injected messages, which are the messages of the session: the end of the turn,
 * the places of these messages in the driver's list, and the tools that calls have described.
 */
export interface Kept {
  readonly stopped?: { readonly type: "stop" | "deny"; readonly reason: string; readonly by: string }
  readonly places: ReadonlyArray<number>
  readonly tools?: { readonly [name: string]: ToolMeta }
}

const Kept = Schema.Struct({
  stopped: Schema.optionalKey(
    Schema.Struct({ type: Schema.Literals(["stop", "deny"]), reason: Schema.String, by: Schema.String })
  ),
  places: Schema.Array(Schema.Finite),
  tools: Schema.optionalKey(Schema.Record(
    Schema.String,
    Schema.Struct({
      name: Schema.String,
      description: Schema.String,
      inputSchema: Schema.Record(Schema.String, JsonValue),
      readOnly: Schema.optionalKey(Schema.Boolean),
      destructive: Schema.optionalKey(Schema.Boolean),
      idempotent: Schema.optionalKey(Schema.Boolean),
      openWorld: Schema.optionalKey(Schema.Boolean)
    })
  ))
})

/** No hook has an empty name, so only the runtime may write it. */
const kept = HookState.ownKey("driver", Kept, { places: [] })("")

const nothing: Kept = { places: [] }

/** Reads what is stored. */
export const keptBy = (session: SessionState): Kept => session.hasLocal ? session.local.get(kept) : nothing

/** Stores it. */
export const keep = (session: SessionState, value: Kept): void => session.local.write(kept, value, "")

/**
 * Adds injected messages to the driver's list. The driver does not know them, so they are added to each later request
 * at the same place.
 */
export const withPlaced = (
  session: SessionState,
  messages: ReadonlyArray<Message>,
  added: ReadonlyArray<Message>
): ReadonlyArray<Message> => {
  if (added.length > 0) {
    const before = keptBy(session)
    keep(session, { ...before, places: [...before.places, ...added.map(() => messages.length)] })
    session.messages.push(...added)
  }
  const { places } = keptBy(session)
  if (places.length === 0) return messages
  const last = messages.length
  return [...messages, undefined].flatMap((message, index) => [
    ...session.messages.filter((_placed, at) => at < places.length && Math.min(places[at]!, last) === index),
    ...(message === undefined ? [] : [message])
  ])
}

/** The driver has shortened its list, so only what must stay is added to it. */
export const forgetPlaced = (session: SessionState): void => {
  if (session.messages.length === 0) return
  session.replaceMessages(session.messages.filter((message) => "pinned" in message && message.pinned === true))
  keep(session, { ...keptBy(session), places: session.messages.map(() => 0) })
}

/** A new turn begins: the end of the last one and its tools are forgotten, but not what was injected. */
export const beginTurn = (session: SessionState): void => {
  const { places, stopped, tools } = keptBy(session)
  if (stopped !== undefined || tools !== undefined) keep(session, { places })
  // A message that a hook kept for the conversation is in the driver's list.
  if (session.messages.length > places.length) session.replaceMessages(session.messages.slice(0, places.length))
}
