/** Shows the result of a trial. */
import { count, lines, plain, type Screen, styleOf, wrap } from "../screen.ts"
import { short, type Where } from "../world.ts"
import { isBlocked } from "./decide.ts"
import type { Run } from "./runs.ts"
import type { Trial } from "./trial.ts"

export const text = (trial: Trial, where: Where, screen: Screen): string => {
  const { context, decision, event, messages, output, point, reason, runs, untrusted, updatedInput, warnings } = trial
  const style = styleOf(screen)
  const paint = isBlocked(trial) ? style.red : decision === "ask" ? style.yellow : style.green
  const facts: ReadonlyArray<readonly [string, ReadonlyArray<string>]> = [
    ["reason", reason === undefined ? [] : lines(reason)],
    ["new input", updatedInput === undefined ? [] : [plain(JSON.stringify(updatedInput))]],
    ["output", output === undefined ? [] : lines(typeof output === "string" ? output : JSON.stringify(output))],
    ["context", context.flatMap(lines)],
    ["to the user", messages.flatMap(lines)],
    ["warning", warnings.flatMap(lines)]
  ]
  const held = untrusted === 0
    ? ""
    : style.yellow(
      `, but ${count(untrusted, "entry", "entries")} of the project did not run because nobody has trusted ${
        untrusted === 1 ? "it" : "them"
      }`
    )
  return [
    `${style.bold(plain(event))} ${style.dim(`(${point})`)}  ${style.bold(paint(decision))}${held}`,
    ...facts.flatMap(([name, found]) =>
      found.map((line, index) => `  ${style.dim((index === 0 ? name : "").padEnd(11))} ${line}`)
    ),
    ...(runs.length === 0 ? ["", style.dim("No entry is for this event.")] : []),
    ...[...Map.groupBy(runs, ({ file }) => file)].flatMap(([file, own]) => [
      "",
      plain(short(file, where)),
      ...own.flatMap((run) => runLines(run, screen))
    ])
  ].join("\n")
}

const runLines = (
  { command, durationMs, exitCode, key, matched, outcome, stderr = "", stdout = "", type, why }: Run,
  screen: Screen
): ReadonlyArray<string> => {
  const style = styleOf(screen)
  const what = wrap(
    `${type}  ${plain(command.length > 300 ? `${command.slice(0, 300)}…` : command)}`,
    "            ",
    screen.columns
  )
    .trimStart()
  if (!matched) return [`  ${style.dim("not run")}   ${what}`, `            ${style.yellow(plain(why ?? ""))}`]
  const facts = [
    outcome ?? "",
    ...(exitCode === null || exitCode === undefined ? [] : [`exit ${exitCode}`]),
    ...(durationMs === null ? [] : [`${durationMs} ms`])
  ]
  const streams = [["stdout", stdout], ["stderr", stderr]] as const
  return [
    `  ${style.green("ran")}       ${what}`,
    `            ${style.dim(`${facts.join(", ")}  ${plain(key)}`)}`,
    ...streams.flatMap(([name, content]) =>
      content === ""
        ? []
        : lines(content).map((line, index) => `            ${style.dim((index === 0 ? name : "").padEnd(7))} ${line}`)
    )
  ]
}
