/** `belay hooks list`: shows all files and entries. */
import { defined } from "@belay/core/Fields"
import * as HookConfig from "@belay/hook-files/HookConfig"
import { count, plain, type Screen, type Style, styleOf, wrap } from "../screen.ts"
import { describeWork, type File, type Item, otherSystem, short, type World } from "../world.ts"
import { changeLines, changesOf } from "./changes.ts"

export const json = (world: World): unknown => {
  const { disabled, files, problem, several, untrusted, warnings, where } = world
  return {
    cwd: where.cwd,
    hooks: where.off ? "off" : "on",
    ...(problem === undefined ? {} : { problem }),
    files: files.map(({ items, source, status, warnings: own }) => ({
      dialect: source.dialect,
      scope: source.scope,
      path: source.path,
      ofProject: source.ofProject,
      status,
      ...defined({ plugin: source.origin }),
      silences: source.config.disableAllHooks,
      entries: items.map(entryOf),
      ...defined({ permissions: HookConfig.permissionsOf(source) }),
      warnings: own
    })),
    untrusted: untrusted.map(({ changes, commands, fingerprint, project }) => ({
      project,
      entries: commands.length,
      fingerprint,
      ...defined({ changes: changes()?.map(({ kind, path }) => ({ path, kind })) })
    })),
    disabled,
    warnings: [...warnings, ...several]
  }
}

const entryOf = ({ entry, event, isAsync, line, matcher, once, rule, timeout }: Item): unknown => ({
  event: entry.event,
  key: entry.key,
  ...defined({ line, matcher, if: rule }),
  type: entry.work.type,
  command: describeWork(entry.work),
  ...(entry.work.type === "command" && entry.work.args !== undefined ? { args: entry.work.args } : {}),
  timeoutSeconds: timeout,
  async: isAsync,
  once,
  ...(event?.may === undefined ? {} : { may: event.may })
})

export const text = (world: World, screen: Screen): string => {
  const { disabled, problem, untrusted, where } = world
  const style = styleOf(screen)
  const changes = changesOf(world) ?? []
  if (where.off) return "Hooks are off (--no-hooks): nothing is loaded."
  const head = `${style.bold("Hooks")} for ${plain(where.cwd)}`
  // Files without hooks are left out, because many settings have none.
  const files = world.files.filter(({ items, source, warnings }) =>
    items.length + warnings.length > 0 || source.config.disableAllHooks || rulesOf(source) !== undefined
  )
  const switched = disabled.map((path) => style.dim(`${plain(short(path, where))}  kodelet  switched off by its name`))
  if (files.length === 0 && problem === undefined) {
    const other = world.warnings.map((warning) =>
      style.yellow(wrap(`warning: ${plain(HookConfig.show(warning))}`, "", screen.columns))
    )
    return [head, "", "No files with hooks.", ...switched, ...other].join("\n")
  }
  const stray = world.warnings.filter((warning) => !files.some(({ warnings }) => warnings.includes(warning)))
  return [
    head,
    ...(problem === undefined ? [] : ["", style.red(wrap(`Nothing runs: ${plain(problem)}`, "", screen.columns))]),
    ...files.flatMap((file) => ["", ...fileLines(file, world, screen, style)]),
    ...(switched.length === 0 ? [] : ["", ...switched]),
    ...(stray.length + world.several.length === 0 ? [] : [""]),
    ...[...stray, ...world.several].map((warning) =>
      style.yellow(wrap(`warning: ${plain(HookConfig.show(warning))}`, "", screen.columns))
    ),
    "",
    sum(files, world.warnings.length),
    ...untrusted.flatMap(({ project }) => [
      ...(changes.length === 0
        ? []
        : ["", "Changed since it was trusted:", ...changeLines(changes, world, screen, false)]),
      style.yellow(`Nobody has trusted ${plain(project)} in its current state. Read it, then run: belay hooks trust`)
    ])
  ].join("\n")
}

const fileLines = (
  { items, source, status, warnings }: File,
  { where }: World,
  screen: Screen,
  style: Style
): ReadonlyArray<string> => {
  const state = status === "runs"
    ? source.ofProject && items.length > 0 ? [style.green("trusted")] : []
    : [
      style.yellow(
        {
          untrusted: "not trusted: does not run",
          silenced: "disabled: does not run",
          stopped: "does not run",
          "left out": otherSystem(source)
        }[status]
      )
    ]
  const rules = rulesOf(source)
  const own = source.config.disableAllHooks ? [style.yellow("silences hooks")] : []
  return [
    [style.bold(plain(short(source.path, where))), style.dim(ownerOf(source)), ...state, ...own]
      .join("  "),
    ...(items.length === 0 ? [style.dim("  no entries")] : []),
    ...(rules === undefined ? [] : [`  ${rules}`]),
    ...[...Map.groupBy(items, ({ entry: { event }, matcher }) => JSON.stringify([event, matcher])).values()].flatMap((
      group
    ) => groupLines(group, screen, style)),
    ...warnings.map((warning) =>
      style.yellow(wrap(`warning: ${plain(HookConfig.show({ ...warning, file: "" }).slice(2))}`, "  ", screen.columns))
    )
  ]
}

const ownerOf = ({ dialect, origin, scope }: File["source"]): string =>
  [dialect, ...(origin?.type === "plugin" ? [`plugin ${plain(origin.name)}`] : []), scope].join(", ")

/** Says how many rules about tool calls are loaded. */
const rulesOf = (source: File["source"]): string | undefined => {
  const { ask = [], deny = [] } = HookConfig.permissionsOf(source) ?? {}
  return ask.length + deny.length === 0 ? undefined : `permissions: ${deny.length} deny, ${ask.length} ask`
}

const groupLines = (group: ReadonlyArray<Item>, screen: Screen, style: Style): ReadonlyArray<string> => {
  const { entry, event, matcher, source } = group[0]!
  const name = source.isProgram === true ? "asked for its type when it first runs" : plain(entry.event)
  const may = event === undefined || source.isProgram === true
    ? ""
    : event.may === undefined
    ? style.dim("  only watches")
    : style.dim(`  may ${event.may}`)
  return [
    `  ${style.cyan(name)}${matcher === undefined || matcher === "" ? "" : `  ${plain(matcher)}`}${may}`,
    ...group.flatMap((item) => itemLines(item, screen, style))
  ]
}

const itemLines = (
  { entry, isAsync, once, rule, timeout }: Item,
  screen: Screen,
  style: Style
): ReadonlyArray<string> => {
  const facts = [
    ...(rule === undefined ? [] : [`if ${plain(rule)}`]),
    `${timeout} s`,
    ...(isAsync ? ["async: decides nothing"] : []),
    ...(once ? ["once a session"] : [])
  ]
  const what = plain(describeWork(entry.work))
  const most = Math.max(40, screen.columns * 3)
  const command = what.length > most ? `${what.slice(0, most)}…` : what
  const margin = " ".repeat(`    ${entry.work.type}  `.length)
  return [
    `    ${style.dim(entry.work.type)}  ${wrap(command, margin, screen.columns).trimStart()}`,
    style.dim(`${margin}${facts.join(", ")}`)
  ]
}

const sum = (files: ReadonlyArray<File>, warnings: number): string => {
  const all = files.flatMap(({ items }) => items).length
  const still = files.filter(({ items, status }) => status !== "runs" && items.length > 0).length
  return [
    `${count(files.length, "file")}, ${count(all, "entry", "entries")}`,
    ...(warnings === 0 ? [] : [count(warnings, "warning")]),
    ...(still === 0 ? [] : [`${count(still, "file")} ${still === 1 ? "does" : "do"} not run`])
  ].join(", ") + "."
}
