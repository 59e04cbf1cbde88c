/** `belay hooks trust` and `untrust`: what would run, and what a person says about it. */
import * as Trust from "@belay/hooks/Trust"
import { count, plain, type Screen, styleOf, wrap } from "./screen.ts"
import { short, shown, trustOf, type World } from "./world.ts"

interface Script {
  readonly path: string
  readonly sha256?: string
  readonly mode?: string
  /** Why there is nothing to run. */
  readonly problem?: string
}

/** Files that the project's entries name or have at hand; words that only look like a path are left out. */
const scriptsOf = ({ files, where }: World): ReadonlyArray<Script> =>
  Trust.scripts(where.cwd, files.flatMap(({ source }) => source.ofProject ? [source] : []), where.home).flatMap(
    ({ path, state }): ReadonlyArray<Script> => {
      if (state === "absent") return []
      const [, mode, sha256] = /^(\d+) ([0-9a-f]{64})$/.exec(state) ?? []
      return mode === undefined || sha256 === undefined ? [{ path, problem: state }] : [{ path, mode, sha256 }]
    }
  )

export const json = (world: World, trusted: boolean): unknown => ({
  project: world.where.cwd,
  trusted,
  entries: entriesOf(world).map(({ entry: { event, file, key, work } }) => ({
    event,
    file,
    key,
    type: work.type,
    command: shown(work),
    ...(work.type === "command" && work.args !== undefined ? { argv: [work.command, ...work.args] } : {})
  })),
  scripts: scriptsOf(world)
})

const entriesOf = ({ files }: World) =>
  files.filter(({ source, status }) => source.ofProject && (status === "runs" || status === "untrusted")).flatMap(({ items }) => items)

export const text = (world: World, screen: Screen): string => {
  const { where } = world
  const style = styleOf(screen)
  const entries = entriesOf(world)
  const scripts = scriptsOf(world)
  return [
    `${style.bold(plain(where.cwd))} would run ${count(entries.length, "entry", "entries")}:`,
    ...[...Map.groupBy(entries, ({ entry }) => entry.file)].flatMap(([file, own]) => [
      "",
      plain(short(file, where)),
      ...own.flatMap(({ entry: { event, key, work } }) => [
        `  ${style.cyan(plain(event))}  ${style.dim(plain(key))}`,
        `    ${style.dim(work.type)}  ${
          work.type === "command" && work.args !== undefined
            ? plain(JSON.stringify([work.command, ...work.args]))
            : wrap(plain(shown(work)), "    ", screen.columns).trimStart()
        }`
      ])
    ]),
    ...(scripts.length === 0 ? [] : ["", "Scripts, with their SHA-256:"]),
    ...scripts.map(({ mode, path, problem, sha256 }) =>
      `  ${plain(short(path, where))}\n    ${style.dim(problem === undefined ? `${sha256}  ${mode}` : plain(problem))}`
    )
  ].join("\n")
}

export const untrust = ({ where }: World): boolean => Trust.folder(trustOf(where)).remove(where.cwd)
