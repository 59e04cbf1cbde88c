/** Drops entries that run the same script at the same event as an entry of another system. */
import { checked } from "@belay/core/ArgumentCheck"
import type { Dialect, Entry, Source } from "../dialect/shared/system.ts"
import { nameOf } from "../dialect/shared/toolNames.ts"
import { type Event, type Occasion, spelt } from "../engine/Guide.ts"
import { eventOf } from "../system/Systems.ts"
import { placed } from "../trust/internal/places.ts"

interface Kept {
  readonly dialect: Dialect
  readonly entry: Facts
  readonly source: Source
}

/** Some systems have these fields. */
interface Facts extends Entry {
  readonly async?: unknown
  readonly once?: unknown
  readonly rule?: unknown
  readonly kind?: unknown
  /** In seconds. Only Claude Code and Codex have it, and only their entries are compared by it. */
  readonly timeout?: number
}

/** An entry that is dropped, and the file with the entry that runs instead. */
export interface Twin {
  readonly entry: Entry
  readonly instead: Source
}

/**
 * Finds the entries that another system already runs: the same command at the same event, for at least the same tools.
 * Entries of the user come first, then the order of the files counts. An entry stays if the other one could run less
 * often or decide less, such as one with `if` or `async`, or one whose system does not read the answers that refuse.
 *
 * @category reading
 * @since 0.1.0
 */
export const twinsOf = checked(
  "Discovery.twinsOf",
  ["sources"],
  (sources: ReadonlyArray<Source>): ReadonlyArray<Twin> => {
    // Twins are entries of two systems.
    if (new Set(sources.map(({ dialect }) => dialect)).size < 2) return []
    const seen = new Map<string, Array<Kept>>()
    const ordered = [...sources.filter(({ ofProject }) => !ofProject), ...sources.filter(({ ofProject }) => ofProject)]
    return ordered.flatMap((source) =>
      source.config.handlers.flatMap((handler): ReadonlyArray<Twin> => {
        const entry: Facts = handler
        const key = source.origin === undefined && source.isProgram !== true ? keyOf(entry, source) : undefined
        if (key === undefined) return []
        const others = seen.get(key) ?? []
        seen.set(key, others)
        const instead = others.find((kept) =>
          kept.dialect !== source.dialect && covers(kept, entry) && readsAll(kept, entry, source)
        )
        if (instead !== undefined) return [{ entry: handler, instead: instead.source }]
        // Thousands of entries may run the same command: one is enough to compare with.
        const isNew = !others.some((kept) => kept.dialect === source.dialect && isSame(kept.entry, entry))
        if (isNew) others.push({ dialect: source.dialect, entry, source })
        return []
      })
    )
  }
)

/** Returns the files without the entries that another system already runs. */
export const dropTwins = (sources: ReadonlyArray<Source>): ReadonlyArray<Source> => {
  const twins = new Set(twinsOf(sources).map(({ entry }) => entry))
  return twins.size === 0 ? sources : sources.map((source) => ({
    ...source,
    config: { ...source.config, handlers: source.config.handlers.filter((entry) => !twins.has(entry)) }
  }))
}

/** Returns the event and the command of an entry, without differences in how paths of the project are written. */
const keyOf = ({ cwd = ".", event, kind, work }: Facts, { system }: Source): string | undefined => {
  if (work.type !== "command" || kind === "policy") return undefined
  const about = eventOf(system.guide, event)
  if (about === undefined) return undefined
  const words = [work.command, ...(work.args ?? [])].map(plainCommand)
  return JSON.stringify([occasionOf(about), words, work.shell ?? "", cwd])
}

const occasionOf = ({ name, occasion }: Event): string => occasion === "signal" ? `signal ${spelt(name)}` : occasion

/** Removes the folder of the project, `./`, and quotes. Quotes stay if a shell would expand something between them. */
const plainCommand = (command: string): string => {
  const line = placed(command).trim()
  const plain = /[$`\\*?]/.test(line) ? line : line.replaceAll(/["']/g, "")
  return plain.replaceAll(/(^|[\s"'])(?:\/@project|\.)\/(?=[\w.])/g, "$1")
}

const isSame = (one: Facts, other: Facts): boolean =>
  one.matcherText === other.matcherText && one.async === other.async && one.once === other.once &&
  one.rule === undefined && other.rule === undefined && JSON.stringify(one.env) === JSON.stringify(other.env)

const covers = ({ entry, dialect }: Kept, other: Facts): boolean => {
  if (entry.async === true || entry.once === true || entry.rule !== undefined) return false
  if (Object.entries(other.env ?? {}).some(([name, value]) => entry.env?.[name] !== value)) return false
  const own = toolsOf(entry.matcherText)
  if (own === "all") return true
  const theirs = toolsOf(other.matcherText)
  if (own === undefined || theirs === undefined || theirs === "all" || dialect === "basecoat") return false
  return theirs.every((name) => own.includes(name))
}

/** What an entry can refuse, hide or change for the model. */
const guarded: ReadonlySet<Occasion> = new Set([
  "prompt",
  "subagent-start",
  "tool-call",
  "permission",
  "tool-result",
  "stop",
  "subagent-stop",
  "model-request",
  "model-response"
])

/**
 * Whether the script gets the same input from the system of the kept entry, and every answer that refuses in the other
 * system refuses there too. Systems differ in this: exit code 1 refuses in Copilot only, and Claude Code reads `ask`,
 * which Codex ignores. So a guard runs for both systems, except for Codex after Claude Code, which reads more answers.
 */
const readsAll = (kept: Kept, other: Facts, { dialect, system }: Source): boolean => {
  const about = eventOf(system.guide, other.event)
  if (about?.may === undefined || !guarded.has(about.occasion)) return true
  if (kept.dialect !== "claude" || dialect !== "codex") return false
  return codexReadsLess.has(about.occasion) && isAsPatient(kept.entry, other)
}

/** Where the input of Codex is that of Claude Code, and Claude Code reads every answer that Codex reads. */
const codexReadsLess: ReadonlySet<Occasion> = new Set(["prompt", "tool-call", "stop", "subagent-stop"])

/** Whether an entry has at least the time of the other one. */
const isAsPatient = ({ timeout = Infinity }: Facts, other: Facts): boolean => timeout >= (other.timeout ?? Infinity)

/** Returns the tools of a matcher that is a list of names, or undefined if it is a pattern. */
const toolsOf = (matcher = ""): "all" | ReadonlyArray<string> | undefined => {
  const text = matcher.trim().replace(/^\^?\(?([\w|]+)\)?\$?$/, "$1")
  if (text === "" || text === "*" || text === ".*") return "all"
  if (!/^\w+(?:\|\w+)*$/.test(text) || text.includes("apply_patch")) return undefined
  return text.split("|").flatMap((name) =>
    name === "edit" || name === "replace" ? ["Edit", "MultiEdit"] : [names[name] ?? nameOf(name, {})]
  )
}

/** Names of tools that only one system uses. */
const names: { readonly [name: string]: string } = { create: "Write", task: "Agent", Task: "Agent" }
