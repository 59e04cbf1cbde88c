/** Messages of Belay beside what an SDK has for them. What no hook has changed goes back as it came. */
import { canonical, type Json } from "@belay/core/Json"
import type { Message } from "@belay/core/Message"
import type { Place } from "./place.ts"

/** One message of Belay with what it was made from. */
export interface Unit<Source> {
  readonly message: Message
  readonly source: ReadonlyArray<Source>
}

/** Writes a message. `source` is that of the message that a hook has changed into it, or empty. */
export type Write<Source> = (message: Message, source: ReadonlyArray<Source>) => ReadonlyArray<Source>

// A message is JSON. The compiler cannot check that, because the interface has no index signature.
const keyOf = (message: Message): string => canonical(message as unknown as Json)

/** Returns the conversation with what hooks have made of its messages before. */
export const withChanges = <Source>(
  place: Place,
  units: ReadonlyArray<Unit<Source>>,
  write: Write<Source>
): ReadonlyArray<Unit<Source>> =>
  units.map((unit) => {
    const changed = place.changeOf(unit.message)
    return changed === undefined ? unit : { message: changed, source: write(changed, unit.source) }
  })

/** Makes what the model reads. */
export const writeUnits = <Source>(
  units: ReadonlyArray<Unit<Source>>,
  messages: ReadonlyArray<Message>,
  write: Write<Source>
): Array<Source> => {
  let keys: ReadonlyArray<string> | undefined
  let next = 0
  return messages.flatMap((message) => {
    // A message that no hook has changed is the same object.
    if (units[next]?.message === message) return units[next++]!.source
    keys ??= units.map((unit) => keyOf(unit.message))
    const found = keys.indexOf(keyOf(message), next)
    if (found >= 0) {
      next = found + 1
      return units[found]!.source
    }
    const changed = units[next]?.message.role === message.role ? units[next++]!.source : []
    return write(message, changed)
  })
}
