/** `belay hooks doctor`: shows mistakes, why they matter, and what to do. */
import * as HookConfig from "@belay/hook-files/HookConfig"
import { check } from "../lint/command.ts"
import { rules } from "../lint/entry.ts"
import type { Finding, Level } from "../lint/finding.ts"
import { read } from "../raw.ts"
import { count, plain, type Screen, styleOf, wrap } from "../screen.ts"
import { type File, short, type World } from "../world.ts"

/** Returns all findings, file by file. */
export const findings = (world: World, path: string): ReadonlyArray<Finding> => {
  const { files, idle, problem, several, twins, untrusted, where, warnings } = world
  const stray = warnings.filter((warning) => !files.some((file) => file.warnings.includes(warning)))
  return [
    ...(problem === undefined ? [] : [{
      level: "error" as const,
      rule: "managed",
      file: where.cwd,
      key: "",
      what: problem,
      why: "nothing runs at all",
      fix: "Correct the managed settings, or move the folder of decisions outside of the project."
    }]),
    ...stray.map((warning) => loading(warning, undefined)),
    ...several.map(({ file, reason }): Finding => ({
      level: "warning",
      rule: "several-systems",
      file,
      key: "",
      what: reason.split("; to load several", 1)[0]!,
      why: "two systems in one agent would add context twice, and a script of one can block calls of the other",
      fix: `Name the systems that you want: --source here, and the option ${
        /sources: .*$/.exec(reason)?.[0]
      } in your program.`
    })),
    ...files.flatMap((file) => ofFile(file, files, { ...where, path })),
    ...twins.map(({ entry, instead }): Finding => ({
      level: "hint",
      rule: "twice",
      file: entry.file,
      key: entry.key,
      what: `the same script is in ${short(instead.path, where)}, for ${instead.system.guide.name}`,
      why: "it runs once at an event, for that system",
      fix: "Keep both if you use both systems."
    })),
    ...idle.map((file): Finding => ({
      level: "error",
      rule: "script-mode",
      file,
      key: "",
      what: "it has no execute bit",
      why: "files without an execute bit are not hooks, so it is never asked for its type",
      fix: `chmod +x ${file}`
    })),
    ...untrusted.map(({ commands, project }): Finding => ({
      level: "warning",
      rule: "untrusted",
      file: project,
      key: "",
      what: `${count(commands.length, "entry does", "entries do")} not run`,
      why: "nobody has trusted the current files of the project",
      fix: "Read them, then run: belay hooks trust"
    }))
  ]
}

const ofFile = (
  file: File,
  files: ReadonlyArray<File>,
  place: { readonly cwd: string; readonly home: string; readonly path: string }
): ReadonlyArray<Finding> => {
  const { items, source, status, warnings } = file
  const raw = read(source.path, source.isProgram === true ? "" : source.text)
  const twice = files.flatMap((one) => one === file || one.source.dialect !== source.dialect ? [] : one.items)
  return [
    ...(status === "silenced"
      ? [{
        level: "warning" as const,
        rule: "silenced",
        file: source.path,
        key: "",
        what: "nothing in it runs",
        why: "disableAllHooks, or allowManagedHooksOnly, silences it",
        fix: "Remove that setting if you do not want it."
      }]
      : []),
    ...notAllowed(source),
    ...warnings.map((warning) => loading(warning, raw.line(warning.key.replace(/^[^:[\]]*: /, "")))),
    ...items.flatMap((item): ReadonlyArray<Finding> => {
      const same = twice.find((one) =>
        one.entry.event === item.entry.event && one.matcher === item.matcher &&
        JSON.stringify(one.entry.work) === JSON.stringify(item.entry.work) &&
        files.findIndex(({ items: of }) => of.includes(one)) < files.indexOf(file)
      )
      const at = { file: source.path, key: item.entry.key, ...(item.line === undefined ? {} : { line: item.line }) }
      return [
        ...[...rules.flatMap((rule) => rule(item)), ...check(item, place)].map((said) => ({ ...said, ...at })),
        ...(same === undefined ? [] : [{
          ...at,
          level: "hint" as const,
          rule: "twice",
          what: `the same entry is in ${short(same.source.path, place)}`,
          why: source.dialect === "claude" ? "it runs once" : "it runs twice",
          fix: "Keep one of them."
        }])
      ]
    })
  ]
}

/** Says that rules which allow calls are not loaded. */
const notAllowed = (source: File["source"]): ReadonlyArray<Finding> => {
  const allowed = HookConfig.permissionsOf(source)?.allow ?? []
  return allowed.length === 0 ? [] : [{
    level: "hint",
    rule: "permissions-allow",
    file: source.path,
    key: "permissions.allow",
    what: `${count(allowed.length, "rule that allows calls is", "rules that allow calls are")} not loaded`,
    why: "a settings file can only tighten what an agent may do: its rules of deny and ask are loaded",
    fix: "Allow these calls in your program, for example with PermissionRules."
  }]
}

/** Findings from the warnings of the loader. */
const loading = ({ file, key, reason }: HookConfig.Warning, line: number | undefined): Finding => {
  const [what = reason, fix] = reason.split(/; (?=did you mean)/)
  const isLoose = /matches everything/.test(reason)
  if (key === "enabledPlugins" && /not installed/.test(reason)) {
    return {
      level: "warning",
      rule: "plugin-missing",
      file,
      key,
      ...(line === undefined ? {} : { line }),
      what: reason.split(", so ", 1)[0]!,
      why: "its hooks do not run",
      fix: "Install it with Claude Code, or name its folder: --plugin here, and the source { plugin: \"path\" } in " +
        "your program."
    }
  }
  return {
    level: isLoose ? "warning" : "error",
    rule: "loading",
    file,
    key,
    ...(line === undefined ? {} : { line }),
    what,
    why: isLoose ? "it runs more often than its settings say" : "this part of the file is ignored",
    fix: fix === undefined
      ? "Write it as its system requires: belay hooks explain"
      : `${fix[0]!.toUpperCase()}${fix.slice(1)}`
  }
}

export const hasErrors = (found: ReadonlyArray<Finding>): boolean => found.some(({ level }) => level === "error")

export const json = ({ where }: World, found: ReadonlyArray<Finding>): unknown => ({
  cwd: where.cwd,
  findings: found,
  ...sums(found)
})

const levels: ReadonlyArray<Level> = ["error", "warning", "hint"]

const sums = (found: ReadonlyArray<Finding>) => ({
  errors: found.filter(({ level }) => level === "error").length,
  warnings: found.filter(({ level }) => level === "warning").length,
  hints: found.filter(({ level }) => level === "hint").length
})

export const text = (world: World, found: ReadonlyArray<Finding>, screen: Screen): string => {
  const style = styleOf(screen)
  if (world.where.off) return "Hooks are off (--no-hooks): nothing is loaded."
  const paint = { error: style.red, warning: style.yellow, hint: style.cyan }
  const { errors, hints, warnings } = sums(found)
  const looked = `Looked at ${count(world.files.length, "file")} and ${
    count(world.files.flatMap(({ items }) => items).length, "entry", "entries")
  }: `
  const sum = found.length === 0
    ? style.green("no findings.")
    : [[errors, "error"], [warnings, "warning"], [hints, "hint"]].flatMap(([number, name]) =>
      number === 0 ? [] : [count(Number(number), String(name))]
    ).join(", ") + "."
  const show = (finding: Finding, where: string) => {
    const { fix, level, rule, what, why } = finding
    return [
      `  ${paint[level](level)}  ${where}  ${style.dim(rule)}`,
      ...[`${sentence(what)} ${sentence(why)}`, sentence(fix)].map((one) => wrap(plain(one), "    ", screen.columns))
    ]
  }
  const at = ({ key, line }: Finding) => `${plain(key)}${line === undefined ? "" : style.dim(` line ${line}`)}`
  const fileOf = ({ file }: Finding) => plain(short(file, world.where))
  const [common, own] = inSeveralFiles(found)
  return [
    ...[...Map.groupBy(own, ({ file }) => file).values()].flatMap((ofFile) => [
      style.bold(fileOf(ofFile[0]!)),
      ...byRule(ofFile).flatMap((alike) => {
        const same = [...Map.groupBy(alike, ({ fix, what }) => JSON.stringify([what, fix])).values()]
        const rest = same.slice(maxShown).flat().length
        return [
          ...same.slice(0, maxShown).flatMap((group) => show(group[0]!, listed(group.map(at)))),
          ...(rest === 0 ? [] : [`    ${style.dim(`and ${count(rest, "more finding")} like this: see --json`)}`])
        ]
      }),
      ""
    ]),
    ...(common.length === 0 ? [] : [style.bold("In several files")]),
    ...common.flatMap((group) => show(group[0]!, listed([...new Set(group.map(fileOf))]))),
    ...(common.length === 0 ? [] : [""]),
    `${looked}${sum}`
  ].join("\n")
}

const sentence = (words: string): string => {
  const begun = /^[a-z]+ /.test(words) ? `${words[0]!.toUpperCase()}${words.slice(1)}` : words
  return /[.?!`]$/.test(begun) || /^chmod|: belay /.test(words) ? begun.replace(/^Chmod/, "chmod") : `${begun}.`
}

/** How many findings, and how many places of one finding, are shown. */
const [maxShown, maxPlaces] = [3, 4]

const listed = (places: ReadonlyArray<string>): string =>
  places.length <= maxPlaces
    ? places.join(", ")
    : `${places.slice(0, maxPlaces).join(", ")} and ${places.length - maxPlaces} more`

/** The findings of one rule together, errors first. */
const byRule = (found: ReadonlyArray<Finding>): ReadonlyArray<ReadonlyArray<Finding>> =>
  levels.flatMap((level) => [
    ...Map.groupBy(found.filter((one) => one.level === level), ({ rule, why }) => JSON.stringify([rule, why])).values()
  ])

/** Splits off the findings that more than two files have, in groups. */
const inSeveralFiles = (
  found: ReadonlyArray<Finding>
): readonly [common: ReadonlyArray<ReadonlyArray<Finding>>, own: ReadonlyArray<Finding>] => {
  const all = [
    ...Map.groupBy(found, ({ fix, level, rule, what, why }) => JSON.stringify([level, rule, what, why, fix])).values()
  ]
  const isCommon = (group: ReadonlyArray<Finding>) => new Set(group.map(({ file }) => file)).size > 2
  const common = all.filter(isCommon)
  const several = new Set(common.flat())
  return [common, found.filter((one) => !several.has(one))]
}
