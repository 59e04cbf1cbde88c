/** Every system, and ways to find an event. */
import type { Dialect } from "@belay/hook-files/Discovery"
import { claude } from "./claude.ts"
import { codex } from "./codex.ts"
import { copilot } from "./copilot.ts"
import { gemini } from "./gemini.ts"
import { type Event, spelt, type System } from "./guide.ts"
import { basecoat, kodelet } from "./others.ts"

export const systems: ReadonlyArray<System> = [claude, codex, copilot, gemini, kodelet, basecoat]

export const systemOf = (dialect: Dialect): System | undefined => systems.find((one) => one.dialect === dialect)

const isCalled = ({ name, others = [] }: Event, wanted: string): boolean =>
  [name, ...others].some((one) => spelt(one) === spelt(wanted))

/** What an entry's event is in its own system. */
export const eventOf = (dialect: Dialect, name: string): Event | undefined =>
  systemOf(dialect)?.events.find((one) => isCalled(one, name))

/** Events of this name, in whatever system has them. */
export const named = (name: string): ReadonlyArray<Event> =>
  systems.flatMap(({ events }) => events.filter((one) => isCalled(one, name)))

export const names: ReadonlyArray<string> = [
  ...new Set(systems.flatMap(({ events }) => events.map(({ name }) => name)))
]
