/** `belay hooks`: says what is there and what to do next. */
import type { Finding } from "../lint/finding.ts"
import { count, plain, type Screen, styleOf } from "../screen.ts"
import { short, type World } from "../world.ts"

/** What to do next: a command and why. */
interface Step {
  readonly command: string
  readonly why: string
}

export const json = (world: World, found: ReadonlyArray<Finding>): unknown => ({
  cwd: world.where.cwd,
  systems: systemsOf(world),
  files: withHooks(world).length,
  entries: entriesOf(world),
  running: runningOf(world),
  next: steps(world, found)
})

const withHooks = ({ files }: World) => files.filter(({ items }) => items.length > 0)

const entriesOf = (world: World): number => world.files.flatMap(({ items }) => items).length

const runningOf = (world: World): number =>
  world.files.flatMap(({ items, status }) => status === "runs" ? items : []).length

const systemsOf = (world: World): ReadonlyArray<string> => [
  ...new Set(withHooks(world).map(({ source }) => source.system.guide.name))
]

const steps = (world: World, found: ReadonlyArray<Finding>): ReadonlyArray<Step> => {
  const wrong = found.filter(({ level, rule }) => level !== "hint" && rule !== "untrusted").length
  const event = world.files.flatMap(({ items, status }) => status === "runs" ? items : [])
    .map((item) => item.event?.name).find((name) => name !== undefined)
  if (world.where.off) return [{ command: "belay hooks list", why: "without --no-hooks: shows every file" }]
  if (entriesOf(world) === 0 && wrong === 0) {
    return [
      { command: "belay hooks explain", why: "lists the events of every system" },
      { command: "belay hooks explain PreToolUse", why: "shows an example to begin with" }
    ]
  }
  return [
    ...(world.untrusted.length === 0
      ? []
      : [{ command: "belay hooks trust", why: "shows what the hooks of this project would run, and lets them run" }]),
    ...(wrong === 0 ? [] : [{ command: "belay hooks doctor", why: `shows ${count(wrong, "mistake")} and what to do` }]),
    { command: "belay hooks list", why: "shows every file and entry" },
    ...(event === undefined ? [] : [{ command: `belay hooks test ${event}`, why: "runs the hooks of this event once" }])
  ]
}

export const text = (world: World, found: ReadonlyArray<Finding>, screen: Screen): string => {
  const style = styleOf(screen)
  const [files, all, running] = [withHooks(world), entriesOf(world), runningOf(world)]
  const next = steps(world, found)
  const width = Math.max(...next.map(({ command }) => command.length))
  return [
    `${style.bold("Hooks")} for ${plain(world.where.cwd)}`,
    "",
    world.where.off
      ? "Hooks are off (--no-hooks): nothing is loaded."
      : all === 0
      ? "No files with hooks."
      : `${count(all, "entry", "entries")} in ${count(files.length, "file")} for ${systemsOf(world).join(", ")}; ${
        running === all ? "all run" : `${running} of them run`
      }.`,
    ...files.map(({ items, source, status }) =>
      `  ${plain(short(source.path, world.where))}  ${style.dim(count(items.length, "entry", "entries"))}${
        status === "runs" ? "" : `  ${style.yellow(status === "untrusted" ? "not trusted" : status)}`
      }`
    ),
    ...(world.problem === undefined ? [] : ["", style.red(`Nothing runs: ${plain(world.problem)}`)]),
    "",
    "Next:",
    ...next.map(({ command, why }) => `  ${style.cyan(command.padEnd(width))}  ${why}`),
    "",
    style.dim("All commands: belay hooks --help")
  ].join("\n")
}
