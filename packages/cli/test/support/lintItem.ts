/** An entry for a rule, without a file. */
import type { Dialect } from "@belay/hook-files/Discovery"
import { builtIn, eventOf } from "@belay/hook-files/Systems"
import type { Said } from "../../src/internal/lint/finding.ts"
import type { Item } from "../../src/internal/world.ts"

/** What an entry is, if it is not a command of the user. */
export interface Facts {
  readonly work?: object
  readonly raw?: object
  readonly group?: object
  readonly matcher?: string
  readonly rule?: string
  readonly timeout?: number
  readonly isAsync?: boolean
  readonly ofProject?: boolean
  readonly isProgram?: boolean
  /** The name of the event as the file writes it. */
  readonly event?: string
  readonly once?: boolean
  readonly cwd?: string
  readonly env?: object
  /** Variables in the settings file. */
  readonly settingsEnv?: object
}

export const item = (dialect: Dialect, name: string, facts: Facts = {}): Item => {
  const system = builtIn.find((one) => one.dialect === dialect)!
  const { env, group = {}, isAsync = false, matcher, raw = {}, rule, timeout = 60 } = facts
  const { cwd, event = name, isProgram, ofProject = false, once, settingsEnv, work } = facts
  // Rules read nothing else.
  return {
    entry: {
      event,
      work: work ?? { type: "command", command: "true" },
      once,
      cwd,
      ...(env === undefined ? {} : { env })
    },
    source: {
      dialect,
      ofProject,
      system,
      ...(isProgram === undefined ? {} : { isProgram }),
      config: settingsEnv === undefined ? {} : { env: settingsEnv }
    },
    event: eventOf(system.guide, name),
    raw,
    group,
    matcher,
    rule,
    timeout,
    isAsync
  } as never
}

/** `error exit-one: … | Exit with 2 …`. */
export const shown = (found: ReadonlyArray<Said>): ReadonlyArray<string> =>
  found.map(({ fix, level, rule, what }) => `${level} ${rule}: ${what} | ${fix}`)

/** Keeps findings, and returns all that they say in alphabetical order, without the path of a folder. */
export const collected = (folder = "\0") => {
  const all = new Set<string>()
  return {
    add: <Found extends ReadonlyArray<Said>>(found: Found): Found => {
      for (const { fix, level, rule, what, why } of found) {
        all.add(`${level} ${rule}: ${what}\n  ${why}\n  ${fix}\n`.replaceAll(folder, "").replaceAll(/\bx\d+\b/g, "x"))
      }
      return found
    },
    text: () => [...all].toSorted().join("")
  }
}
