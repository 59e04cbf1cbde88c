/** The texts of `belay skills`. */
import { defined } from "@belay/core/Fields"
import * as HookConfig from "@belay/hook-files/HookConfig"
import * as SkillFiles from "@belay/hook-files/SkillFiles"
import * as Changes from "../files/changes.ts"
import { count, plain, type Screen, type Style, styleOf, wrap } from "../screen.ts"
import { short } from "../world.ts"
import { lintSkill, type SkillFinding } from "./lint.ts"
import type { SkillWorld } from "./look.ts"

const askedFor = ({ allowedTools, forModels }: SkillFiles.Skill): string =>
  [
    allowedTools === undefined
      ? "all tools of the agent (it declares no allowed-tools)"
      : allowedTools.length === 0
      ? "no tool"
      : allowedTools.join(", "),
    ...(forModels ? [] : ["models cannot load it"])
  ].join("; ")

export const listJson = ({ all, warnings, where }: SkillWorld): unknown => ({
  cwd: where.cwd,
  skills: all.map(({ skill, status }) => ({
    ...defined({
      name: skill.name,
      description: skill.description,
      license: skill.license,
      compatibility: skill.compatibility,
      allowedTools: skill.allowedTools
    }),
    metadata: skill.metadata,
    forModels: skill.forModels,
    path: skill.path,
    scope: skill.scope,
    source: skill.source,
    status
  })),
  warnings
})

const warningLines = ({ warnings }: SkillWorld, screen: Screen, style: Style): ReadonlyArray<string> =>
  warnings.map((warning) => style.yellow(wrap(`warning: ${plain(HookConfig.show(warning))}`, "", screen.columns)))

export const listText = (world: SkillWorld, screen: Screen): string => {
  const { all, untrusted, where } = world
  const style = styleOf(screen)
  return [
    `${style.bold("Skills")} for ${plain(where.cwd)}`,
    ...(all.length === 0 ? ["", "No skills."] : []),
    ...all.flatMap(({ skill, status }) => [
      "",
      `${style.bold(plain(skill.name))}  ${style.dim(`${plain(skill.source)}, ${skill.scope}`)}  ${
        status === "usable" ? style.green("usable") : style.yellow("not trusted: is not used")
      }`,
      wrap(plain(skill.description), "  ", screen.columns),
      wrap(`may use ${plain(askedFor(skill))}`, "  ", screen.columns),
      style.dim(`  ${plain(short(skill.path, where))}`)
    ]),
    "",
    `${count(all.length, "skill")}${untrusted.length === 0 ? "" : `, ${untrusted.length} not trusted`}.`,
    ...warningLines(world, screen, style),
    ...(untrusted.length === 0 ? [] : [style.yellow("Read them, then run: belay skills trust")])
  ].join("\n")
}

export const trustJson = (untrusted: ReadonlyArray<SkillFiles.UntrustedSkill>, trusted: boolean): unknown => ({
  trusted,
  skills: untrusted.map((one) => {
    const { files, problem, skill } = one
    const changes = one.changes()
    return {
      name: skill.name,
      path: skill.path,
      ...defined({ allowedTools: skill.allowedTools, problem }),
      files,
      findings: lintSkill(skill, SkillFiles.filesOf(skill)),
      ...(changes === undefined ? {} : { changes: Changes.json(changes) })
    }
  })
})

/** What a person reads before the decision: what it may do, its text, its files, what was found, and what changed. */
export const trustText = (one: SkillFiles.UntrustedSkill, { where }: SkillWorld, screen: Screen): string => {
  const { files, problem, skill } = one
  const style = styleOf(screen)
  const changes = one.changes() ?? []
  const texts = SkillFiles.filesOf(skill)
  const whole = texts.find(({ path }) => path === "SKILL.md")?.text ?? skill.body
  const lines = whole.trimEnd().split(/\r?\n/)
  return [
    `${style.bold(plain(skill.name))}  ${style.dim(plain(short(skill.root, where)))}`,
    wrap(plain(skill.description), "  ", screen.columns),
    wrap(`may use ${plain(askedFor(skill))}`, "  ", screen.columns),
    ...(problem === undefined ? [] : [style.red(wrap(`cannot be trusted: ${plain(problem)}`, "  ", screen.columns))]),
    ...(changes.length === 0
      ? [
        "  Its SKILL.md:",
        ...lines.slice(0, maxLines).map((line) => `    ${plain(line)}`),
        ...(lines.length > maxLines ? [`    … ${lines.length - maxLines} more lines`] : [])
      ]
      : ["  Changed since it was trusted:", ...indent(Changes.changeLines(changes, { where }, screen, true))]),
    "  Its files, with their execute bits and SHA-256:",
    ...files.slice(0, maxFiles).map(({ path, state }) => `    ${plain(path)}  ${style.dim(plain(state))}`),
    ...(files.length > maxFiles ? [`    … ${files.length - maxFiles} more files`] : []),
    ...indent(findingLines(lintSkill(skill, texts), style))
  ].join("\n")
}

const maxLines = 200
const maxFiles = 100

const indent = (lines: ReadonlyArray<string>): ReadonlyArray<string> => lines.map((line) => `  ${line}`)

const findingLines = (found: ReadonlyArray<SkillFinding>, style: Style): ReadonlyArray<string> =>
  found.map(({ file, level, line, what }) => {
    const paint = { error: style.red, warning: style.yellow, hint: style.dim }[level]
    return `${paint(level)}  ${plain(file)}${line === undefined ? "" : `:${line}`}  ${plain(what)}`
  })

export interface Linted {
  readonly skill: SkillFiles.Skill
  readonly found: ReadonlyArray<SkillFinding>
}

export const lintAll = ({ all }: SkillWorld): ReadonlyArray<Linted> =>
  all.map(({ skill }) => ({ skill, found: lintSkill(skill, SkillFiles.filesOf(skill)) }))

export const lintJson = (linted: ReadonlyArray<Linted>, { warnings }: SkillWorld): unknown => ({
  skills: linted.map(({ found, skill }) => ({ name: skill.name, path: skill.path, findings: found })),
  warnings
})

export const lintText = (linted: ReadonlyArray<Linted>, world: SkillWorld, screen: Screen): string => {
  const style = styleOf(screen)
  const all = linted.flatMap(({ found }) => found)
  const errors = all.filter(({ level }) => level === "error").length
  const warnings = all.filter(({ level }) => level === "warning").length
  return [
    ...linted.flatMap(({ found, skill }) => [
      `${style.bold(plain(skill.name))}  ${style.dim(plain(short(skill.root, world.where)))}`,
      ...indent(findingLines(found, style))
    ]),
    ...warningLines(world, screen, style),
    `${count(linted.length, "skill")}: ${count(errors, "error")}, ${count(warnings, "warning")}.`
  ].join("\n")
}
