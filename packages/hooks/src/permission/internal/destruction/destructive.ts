/** Finds commands that destroy data, such as `rm -rf` or `git push --force`. */
import type { Command, Decomposed } from "../shell/decompose.ts"
import { interpreters, network, shells } from "../syntax/programs.ts"
import { type Arguments, argumentsOf, type Check, type Destruction } from "./arguments.ts"
import { endlessProcesses } from "./endlessProcesses.ts"
import { gitDestructions } from "./git.ts"
import { serviceChecks } from "./services.ts"
import { destructiveSqlIn } from "./sql.ts"
import { systemChecks } from "./system.ts"
import { versionControlChecks } from "./versionControl.ts"

export type { Destruction } from "./arguments.ts"

/** Every kind, with the words that describe it to the model. */
export const destructionTexts: { readonly [K in Destruction]: string } = {
  "delete-recursively": "deletes whole folders",
  "git-force-push": "overwrites or deletes a remote branch",
  "git-discard": "discards uncommitted changes",
  "git-rewrite": "deletes or rewrites history",
  disk: "overwrites a disk or a device",
  "sql-drop": "deletes tables or their rows",
  "open-permissions": "opens files to everybody",
  "run-download": "runs what it downloads",
  "fork-bomb": "starts processes without end",
  shutdown: "stops the machine or everything on it",
  infrastructure: "deletes infrastructure or what is published",
  accounts: "deletes accounts or scheduled jobs"
}

/** Something destructive in a line: its kind, and the part of the line that does it. */
export type FoundDestruction = readonly [kind: Destruction, text: string]

/** Finds the destructive command of a line. A dynamic word counts as any value that makes a command destructive. */
export const findDestructions = (line: Decomposed, text: string): ReadonlyArray<FoundDestruction> => {
  const found: Array<FoundDestruction> = []
  if (runsDownload(line)) found.push(["run-download", "a download that is run"])
  found.push(...endlessProcesses(text, line).map((shown) => ["fork-bomb", shown] as const))
  const statement = destructiveSqlIn(line, text)
  if (statement !== undefined) found.push(["sql-drop", statement])
  for (const command of line.commands) {
    if (command.via === "guess" && command.words.length > 32) continue
    const args = argumentsOf(command)
    const shown = [command.name, ...args.texts].join(" ").slice(0, 120)
    for (const kind of destructionsOf(args, command)) found.push([kind, shown])
  }
  return found
}

const checks: ReadonlyArray<Check> = [...systemChecks, ...serviceChecks, ...versionControlChecks]

const destructionsOf = (args: Arguments, command: Command): ReadonlyArray<Destruction> => [
  ...checks.flatMap(([kind, destroys]) => destroys(args, command) ? [kind] : []),
  ...(args.name === "git" || args.name === "hub"
    ? gitDestructions(args, command)
    : []),
  ...(/^(?:bfg|git-filter-repo)$/.test(args.name) || args.some(/(?:^|\/)bfg[\w.-]*\.jar$/)
    ? ["git-rewrite" as const]
    : [])
]

/** A shell or an interpreter reads its code from its input, and another command of the line downloads. */
const runsDownload = ({ commands, scripts, unknown }: Decomposed): boolean => {
  const readsCode = commands.some(({ name, via, words }) =>
    via !== "guess" &&
    (shells.has(name) || interpreters.has(name.replace(/[\d.]+$/, "")) ||
      /^(?:eval|source|\.|iex|psql|mysql|sqlite3)$/.test(name)) &&
    (words.slice(1).every(({ text }) => text.startsWith("-")) ||
      words.some(({ dynamic, text }) => dynamic || text.startsWith("/dev/fd/")))
  )
  const isRun = readsCode || (scripts.length > 0 && unknown !== undefined)
  return isRun &&
    commands.some(({ name, via, words }) =>
      via !== "guess" && (network.has(name) || (name === "git" && words.some(({ text }) => text === "clone")))
    )
}
