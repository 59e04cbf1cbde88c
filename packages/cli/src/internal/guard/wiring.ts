/** What the settings of a system do with the guard: where they call it, and where they do not. */
import type { Wire } from "@belay/hook-files/Wires"
import * as Result from "effect/Result"
import { join } from "node:path"
import { parse as parseToml } from "smol-toml"
import { type Entry, refusing, strangeKey, switchedOff, wiredEvents } from "./entries.ts"
import type { Here } from "./places.ts"
import { fileOf, textOf } from "./settings.ts"

/** What `belay guard doctor` has found. */
export interface Finding {
  readonly level: "ok" | "warning" | "error"
  readonly text: string
}

/** A file of settings that calls the guard. */
export interface Wired {
  readonly file: string
  readonly events: ReadonlyMap<string, Entry>
}

/** The files of a system that call the guard. */
export const wiredIn = (wire: Wire, here: Here): ReadonlyArray<Wired> =>
  filesOf(wire, here).flatMap((file) => {
    const events = wiredEvents(wire, readable(file))
    return events.size === 0 ? [] : [{ file, events }]
  })

const filesOf = (wire: Wire, { cwd, places }: Here): ReadonlyArray<string> => [
  ...new Set([fileOf(wire, "project", cwd), fileOf(wire, "user", places.home)])
]

/** What cannot be read wires nothing. TOML is read as JSON. */
const readable = (file: string): string =>
  Result.getOrElse(
    Result.flatMap(textOf(file), (text) =>
      file.endsWith(".toml") ? Result.try(() => JSON.stringify(parseToml(text))) : Result.succeed(text)),
    () =>
      ""
  )

/** The events at which the guard is not called as it should be. */
export const gapsIn = (wire: Wire, { events, file }: Wired): ReadonlyArray<Finding> => {
  const again = `run \`belay guard install ${wire.system}\``
  const levelOf = (list: ReadonlyArray<string>) =>
    list.some((event) => wire.events[event]?.means === "toolCall") ? "error" as const : "warning" as const
  const strange = strangeKey(wire, readable(file))
  const absent = Object.keys(wire.events).filter((event) => !events.has(event))
  const known = [...events].filter(([event]) => Object.hasOwn(wire.events, event))
  const unsafe = known.flatMap(([event, { line }]) =>
    line.trim().endsWith(refusing(wire, wire.events[event]!).trim()) ? [] : [event]
  )
  return [
    ...(strange === undefined ? [] : [{
      level: "error" as const,
      text: `${wire.name} runs no hook of ${file} while it has ${JSON.stringify(strange)}: remove that`
    }]),
    ...(absent.length === 0 ? [] : [{
      level: levelOf(absent),
      text: `${file} does not call the guard at ${absent.join(", ")}: ${again}`
    }]),
    ...(unsafe.length === 0 ? [] : [{
      level: "warning" as const,
      text: `${file}: a missing command lets calls run at ${unsafe.join(", ")}: ${again}`
    }]),
    ...known.flatMap(([event, { matcher }]) =>
      matcher === undefined ? [] : [{
        level: levelOf([event]),
        text: `${file} calls the guard at ${event} only where ${JSON.stringify(matcher)} matches: ${again}`
      }]
    )
  ]
}

/** A call that is decided twice can count twice against a limit. */
export const twice = (wire: Wire, wired: ReadonlyArray<Wired>): ReadonlyArray<Finding> =>
  wired.length < 2 ? [] : [{
    level: "warning",
    text: `${wired.map(({ file }) => file).join(" and ")} both call the guard: ` +
      `run \`belay guard uninstall ${wire.system}\`, or the same with --user`
  }]

/** Settings that switch off the guard, in any file that counts. */
export const switches = (wire: Wire, here: Here): ReadonlyArray<Finding> => {
  const { beside = [], besideUser = [] } = wire.settings
  const files = new Set([
    ...filesOf(wire, here),
    ...beside.map((file) => join(here.cwd, file)),
    ...besideUser.map((file) => join(here.places.home, file))
  ])
  return [...files].flatMap((file) =>
    switchedOff(wire, readable(file)).map((what) => ({ level: "error" as const, text: `${file} switches off ${what}` }))
  )
}
