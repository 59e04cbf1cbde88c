/**
 * Lists the systems whose hook files can run, with their guides. A host can add a system: `HookFiles.load({ systems:
 * [mine] })`.
 *
 * @since 0.1.0
 */
import { checked } from "@belay/core/ArgumentCheck"
import { type Event, type Guide, spelt } from "../engine/Guide.ts"

export { trusting as entriesOf } from "../dialect/shared/system.ts"
export type { Decoded, Making, Place, SourceFile, System, Where } from "../dialect/shared/system.ts"
export { builtIn } from "./builtIn.ts"

const isCalled = ({ name, others = [] }: Event, wanted: string): boolean =>
  [name, ...others].some((one) => spelt(one) === spelt(wanted))

/**
 * Finds an event of a system by one of its names, in any spelling. Returns undefined if there is none.
 *
 * @category reading
 * @since 0.1.0
 */
export const eventOf = checked(
  "Systems.eventOf",
  ["guide", "name"],
  ({ events }: Guide, name: string): Event | undefined => events.find((one) => isCalled(one, name))
)

/** Finds the events with this name in all systems, in any spelling. @category reading @since 0.1.0 */
export const eventsNamed = checked(
  "Systems.eventsNamed",
  ["guides", "name"],
  (guides: ReadonlyArray<Guide>, name: string): ReadonlyArray<Event> =>
    guides.flatMap(({ events }) => events.filter((one) => isCalled(one, name)))
)
