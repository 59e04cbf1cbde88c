/** `belay hooks trust` and `untrust`: shows what would run and stores the decision. */
import { defined } from "@belay/core/Fields"
import type { Entry } from "@belay/hook-files/Discovery"
import * as Trust from "@belay/hook-files/Trust"
import { beginning } from "../beginning.ts"
import { count, plain, type Screen, styleOf, wrap } from "../screen.ts"
import { describeWork, type Item, short, trustOf, type World } from "../world.ts"
import * as Changes from "./changes.ts"

interface Script {
  readonly path: string
  readonly sha256?: string
  readonly mode?: string
  /** Why nothing would run. */
  readonly problem?: string
}

/** Files that the entries of the project use. Words that only look like a path are left out. */
const scriptsOf = ({ files, where }: World): ReadonlyArray<Script> =>
  Trust.scripts(where.cwd, files.flatMap(({ source }) => source.ofProject ? [source] : []), where.home).flatMap(
    ({ path, state }): ReadonlyArray<Script> => {
      if (state === "absent") return []
      const [, mode, sha256] = /^(\d+) ([0-9a-f]{64})$/.exec(state) ?? []
      return mode === undefined || sha256 === undefined ? [{ path, problem: state }] : [{ path, mode, sha256 }]
    }
  )

/** Shows the arguments, folder and variables of an entry. */
interface Facts {
  readonly cwd?: string
  readonly env?: { readonly [name: string]: string }
  /** Variables of the host that the headers can use. */
  readonly sends?: ReadonlyArray<string>
  /** Shows the type and description of an executable, as far as its text contains them. */
  readonly events?: ReadonlyArray<string>
  readonly comment?: string
}

const factsOf = ({ entry, source }: Item): Facts => {
  // Some dialects have these fields.
  const { cwd, env = {}, work } = entry as Entry & Pick<Facts, "cwd" | "env">
  const text = source.isProgram === true && work.type === "command" ? beginning(work.command) : ""
  const events = source.system.guide.events.map(({ name }) => name).filter((name) => text.includes(name))
  const comment = /^(?:#!.*\n)?\s*(?:#|\/\/)\s*(\S.{0,199})/.exec(text)?.[1]
  return {
    ...(cwd === undefined ? {} : { cwd }),
    ...(Object.keys(env).length === 0 ? {} : { env }),
    ...(work.type === "http" && (work.allowedEnvVars ?? []).length > 0 ? { sends: work.allowedEnvVars! } : {}),
    ...(events.length === 0 ? {} : { events }),
    ...(comment === undefined ? {} : { comment })
  }
}

const factLines = ({ comment, cwd, env = {}, events, sends }: Facts): ReadonlyArray<string> => [
  ...(cwd === undefined ? [] : [`in ${cwd}`]),
  ...Object.entries(env).map(([name, value]) => `with ${name}=${value}`),
  ...(sends === undefined ? [] : [`may send ${sends.join(", ")}`]),
  ...(events === undefined ? [] : [`names ${events.join(", ")}`]),
  ...(comment === undefined ? [] : [`says "${comment}"`])
]

export const json = (world: World, trusted: boolean): unknown => ({
  project: world.where.cwd,
  trusted,
  entries: entriesOf(world).map((item) => {
    const { entry: { event, file, key, work } } = item
    return {
      event,
      file,
      key,
      type: work.type,
      command: describeWork(work),
      ...(work.type === "command" && work.args !== undefined ? { argv: [work.command, ...work.args] } : {}),
      ...factsOf(item)
    }
  }),
  scripts: scriptsOf(world),
  ...defined({ changes: changesOf(world) })
})

const changesOf = (world: World): unknown => {
  const changes = Changes.changesOf(world)
  return changes === undefined ? undefined : Changes.json(changes)
}

const entriesOf = ({ files }: World) =>
  files.filter(({ source, status }) => source.ofProject && ["runs", "untrusted", "left out"].includes(status)).flatMap((
    { items }
  ) => items)

export const text = (world: World, screen: Screen): string => {
  const { where } = world
  const style = styleOf(screen)
  const entries = entriesOf(world)
  const scripts = scriptsOf(world)
  const changes = Changes.changesOf(world) ?? []
  return [
    `${style.bold(plain(where.cwd))} would run ${count(entries.length, "entry", "entries")}:`,
    ...[...Map.groupBy(entries, ({ entry }) => entry.file)].flatMap(([file, own]) => [
      "",
      plain(short(file, where)),
      ...own.flatMap((item) => {
        const { entry: { event, key, work } } = item
        return [
          `  ${style.cyan(plain(event))}  ${style.dim(plain(key))}`,
          `    ${style.dim(work.type)}  ${
            work.type === "command" && work.args !== undefined
              ? plain(JSON.stringify([work.command, ...work.args]))
              : wrap(plain(describeWork(work)), "    ", screen.columns).trimStart()
          }`,
          ...factLines(factsOf(item)).map((line) =>
            wrap(plain(line.length > 300 ? `${line.slice(0, 300)}…` : line), "      ", screen.columns)
          )
        ]
      })
    ]),
    ...(scripts.length === 0 ? [] : ["", "Scripts, with their SHA-256:"]),
    ...scripts.map(({ mode, path, problem, sha256 }) =>
      `  ${plain(short(path, where))}\n    ${style.dim(problem === undefined ? `${sha256}  ${mode}` : plain(problem))}`
    ),
    ...(changes.length === 0
      ? []
      : ["", "Changed since it was trusted:", ...Changes.changeLines(changes, world, screen, true)])
  ].join("\n")
}

export const untrust = ({ where }: World): boolean => Trust.folder(trustOf(where)).remove(where.cwd)
