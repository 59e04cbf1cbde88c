/** Finds every command that a shell line may run, or says why its commands cannot be known. */
import type { Decomposed } from "./command.ts"
import { CommandCollector } from "./commandCollector.ts"
import { runsWhatItWrites } from "./madeScripts.ts"

export type { Word } from "../syntax/shellSyntax.ts"
export type { Command, Decomposed } from "./command.ts"

/** Finds the commands of a line. The last lines are cached, because several rules ask about one call. */
export const decompose = (line: string): Decomposed => {
  const cached = cache.get(line)
  if (cached !== undefined) return cached
  const decomposed = collectCommands(line)
  if (cache.size >= 32) cache.clear()
  cache.set(line, decomposed)
  return decomposed
}

/** Module state: a cache of a pure function, so that it cannot change an answer. */
const cache = new Map<string, Decomposed>()

const collectCommands = (line: string): Decomposed => {
  const collector = new CommandCollector()
  collector.script(line, 0, "plain")
  // Other shells accept other spaces, and read `^` as an escape.
  if (line.includes("^") || line.search(spaces) >= 0 || line.search(invisible) >= 0) {
    const normalized = line.normalize("NFKC").replaceAll(invisible, "").replaceAll(spaces, " ").replaceAll("^", "")
    const other = new CommandCollector()
    other.script(normalized, 0, "plain")
    collector.commands.push(...other.commands.map((command) => ({ ...command, via: "guess" as const })))
  }
  const { aliases, commands, dynamic, scripts } = collector
  const usesAlias = aliases.size > 0 && commands.some(({ words }) => aliases.has(words[0]?.text ?? ""))
  const unknown = collector.unknown ??
    (usesAlias ? "alias gives programs other names" : runsWhatItWrites(commands, scripts))
  return { commands, dynamic, scripts, unknown }
}

const spaces = /[\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\u0085\v\f]/g
const invisible = /[\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff]/g
