/** The guides of the built-in systems, and ways to find an event in them. */
import type { Event, Guide } from "@belay/hook-files/Guide"
import { builtIn, eventsNamed } from "@belay/hook-files/Systems"

export const guides: ReadonlyArray<Guide> = builtIn.map(({ guide }) => guide)

export const guideOf = (dialect: string): Guide | undefined => guides.find((one) => one.dialect === dialect)

/** Finds the events of this name in all systems. */
export const named = (name: string): ReadonlyArray<Event> => eventsNamed(guides, name)

export const names: ReadonlyArray<string> = [
  ...new Set(guides.flatMap(({ events }) => events.map(({ name }) => name)))
]
