/** Chooses one system of hook files for a project that has several. */
import { checked } from "@belay/core/ArgumentCheck"
import type { Source } from "../dialect/shared/system.ts"
import type { Warning } from "../engine/Dialect.ts"

/** The files that are used by default, and the files of other systems. */
export interface Choice {
  readonly used: ReadonlyArray<Source>
  readonly leftOut: ReadonlyArray<Source>
  /** One line for the project and one for the user, if there are several systems. */
  readonly warnings: ReadonlyArray<Warning>
}

interface Owners {
  /** The folder of the project. */
  readonly cwd: string
  /** The folder of the user. */
  readonly home: string
  /** Systems that are never left out. */
  readonly always?: ReadonlyArray<string>
}

/**
 * Chooses the system with the most entries, once for the files of the project and once for the files of the user, so
 * that a project cannot turn off hooks of the user. If two systems have the same number, the first one of the list is
 * used. Managed files, systems without entries, and the systems of `always` are always used.
 *
 * @category reading
 * @since 0.1.0
 */
export const chooseSystems = checked(
  "Discovery.chooseSystems",
  ["sources", "owners"],
  (sources: ReadonlyArray<Source>, { always = [], cwd, home }: Owners): Choice => {
    const free = sources.filter(({ dialect, scope }) => scope !== "managed" && !always.includes(dialect))
    const choices = [true, false].map((ofProject) =>
      choose(free.filter((source) => source.ofProject === ofProject), ofProject ? cwd : home)
    )
    const leftOut = new Set(choices.flatMap((choice) => choice.leftOut))
    return {
      used: sources.filter((source) => !leftOut.has(source)),
      leftOut: sources.filter((source) => leftOut.has(source)),
      warnings: choices.flatMap(({ warnings }) => warnings)
    }
  }
)

const choose = (sources: ReadonlyArray<Source>, folder: string): Omit<Choice, "used"> => {
  const counts = [...Map.groupBy(sources, ({ dialect }) => dialect)].map(([dialect, own]) =>
    [dialect, own.reduce((sum, { config }) => sum + config.handlers.length, 0)] as const
  ).filter(([, count]) => count > 0)
  if (counts.length < 2) return { leftOut: [], warnings: [] }
  // The sort keeps the order of systems with the same number.
  const [[used, most] = ["", 0], ...others] = counts.toSorted(([, a], [, b]) => b - a)
  const names = counts.map(([dialect]) => JSON.stringify(dialect)).join(", ")
  const reason = `several systems have hooks here: only ${used} is loaded, because it has the most entries (${most}); ${
    others.map(([dialect, count]) => `${dialect} (${count})`).join(", ")
  } ${others.length === 1 ? "is" : "are"} not loaded; to load several, set the option sources: [${names}]`
  return {
    leftOut: sources.filter(({ dialect }) => others.some(([other]) => other === dialect)),
    warnings: [{ file: folder, key: "", reason }]
  }
}
