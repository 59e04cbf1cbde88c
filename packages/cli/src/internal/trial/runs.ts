/** Reports what each entry did, and why an entry did not run. */
import type { JsonObject } from "@belay/core/Json"
import type * as Command from "@belay/hook-files/Command"
import type { Entry } from "@belay/hook-files/Discovery"
import { spelt } from "@belay/hook-files/Guide"
import type { DryRun } from "@belay/testing/TestHook"
import * as Effect from "effect/Effect"
import { describeWork, type Item, otherSystem, type World } from "../world.ts"
import { type Facts, type Plan, textOf } from "./occasions.ts"
import { told as toldOf } from "./told.ts"

export interface Run {
  readonly file: string
  readonly key: string
  readonly type: string
  readonly command: string
  readonly matched: boolean
  /** Why the entry did not run. */
  readonly why?: string
  readonly outcome?: string
  readonly exitCode?: number | null
  readonly durationMs?: number | null
  readonly stdout?: string
  readonly stderr?: string
}

export const notTrusted = "is not trusted: belay hooks trust, or --trust-once"

/** Returns what each entry for the event did, or why it did not run. */
export const runsOf = (
  { files, twins, where }: World,
  { facts, folder, isTrusted, plan }: {
    readonly facts: Facts
    readonly plan: Plan
    readonly folder: string
    readonly isTrusted: boolean
  },
  tried: DryRun,
  finished: ReadonlyArray<Command.Finished>
): Effect.Effect<ReadonlyArray<Run>> =>
  Effect.gen(function*() {
    // The payload of `hook-run` is an object.
    const told = tried.seen.events.filter(({ name }) => name === "hook-run").map(({ payload }) => payload as JsonObject)
    const left = [...finished]
    const heard = new Map<string, JsonObject | undefined>()
    const runs: Array<Run> = []
    for (const { items, status } of files) {
      for (const item of items) {
        const { entry, matcher, source } = item
        const about = { file: entry.file, key: entry.key, type: entry.work.type, command: describeWork(entry.work) }
        const own = told.filter(({ file, key }) => file === entry.file && key === entry.key)
        if (own.length > 0) {
          runs.push(...own.map((payload) => ({ ...about, matched: true, ...ranAs(payload, left) })))
          continue
        }
        const isHeld = status === "untrusted" && !isTrusted
        // The type of an executable is known after it was asked.
        if (
          !isMeant(item, facts) &&
          !((isHeld || status === "silenced") && source.isProgram === true)
        ) continue
        const asked = `${source.dialect} ${entry.event}`
        if (matcher !== undefined && !heard.has(asked)) {
          heard.set(asked, yield* toldOf({ dialect: source.dialect, event: entry.event }, plan, { ...where, folder }))
        }
        const others = told.length > 0 ? files.flatMap((file) => file.items) : []
        const why = where.off
          ? "hooks are off"
          : status === "silenced"
          ? "is silenced"
          : status === "left out"
          ? otherSystem(source)
          : mismatch(item, facts, heard.get(asked)) ??
            (isHeld ? notTrusted : sameScript(item, twins) ?? whyNot(item, others, told))
        runs.push({ ...about, matched: false, why })
      }
    }
    return runs
  })

/** The complete output of a command. Events have only the first part. */
const ranAs = (payload: JsonObject, left: Array<Command.Finished>): Partial<Run> => {
  const { durationMs = null, exitCode = null } = payload
  const [stdout, stderr] = [textOf(payload, "stdout") ?? "", textOf(payload, "stderr") ?? ""]
  const index = payload["type"] !== "command" ?
    -1 :
    left.findIndex((one) =>
      (one.exitCode ?? null) === exitCode && one.durationMs === durationMs &&
      one.stdout.startsWith(stdout.slice(0, 100))
    )
  const [whole] = index < 0 ? [] : left.splice(index, 1)
  return {
    outcome: textOf(payload, "outcome") ?? "",
    // `hook-run` has these fields.
    exitCode: exitCode as number | null,
    // `hook-run` has these fields.
    durationMs: durationMs as number | null,
    stdout: whole?.stdout ?? stdout,
    stderr: whole?.stderr ?? stderr
  }
}

const isMeant = ({ entry, event }: Item, { event: wanted, occasion }: Facts): boolean =>
  event !== undefined && event.occasion === occasion && (occasion !== "signal" || spelt(entry.event) === spelt(wanted))

/** Says that the matcher does not match, with the name of the tool in that system. */
const mismatch = (
  { entry, event, matcher, source }: Item,
  { tool }: Facts,
  told: JsonObject | undefined
): string | undefined => {
  const takes = matcherOf(entry)
  if (event?.matcher === undefined || matcher === undefined || takes === undefined || told === undefined) {
    return undefined
  }
  const value = textOf(told, event.matcher, event.matcher.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`))
  if (value === undefined || takes(value, value)) return undefined
  const isRenamed = /^tool_?name$/i.test(event.matcher) && tool !== undefined && tool !== value
  const name = isRenamed ? `, as ${source.system.guide.name} calls ${tool}` : ""
  return `its matcher ${JSON.stringify(matcher)} does not match ${value === "" ? "an empty text" : value}${name}`
}

/** Says that another system runs the same script. */
const sameScript = ({ entry }: Item, twins: World["twins"]): string | undefined => {
  const twin = twins.find((one) => one.entry === entry)
  return twin && `the same script runs for ${twin.instead.system.guide.name}`
}

const whyNot = (
  { entry, matcher, rule, source }: Item,
  others: ReadonlyArray<Item>,
  told: ReadonlyArray<JsonObject>
): string => {
  if (rule !== undefined) return `its if ${JSON.stringify(rule)} does not hold`
  const same = others.find((one) =>
    one.entry !== entry && JSON.stringify(one.entry.work) === JSON.stringify(entry.work) &&
    told.some(({ file, key }) => file === one.entry.file && key === one.entry.key)
  )
  if (same !== undefined) return `the same entry ran from ${same.entry.file}`
  // Some dialects have these fields.
  const { origin } = entry as Entry & { readonly origin?: { readonly type: string; readonly name: string } }
  if (origin?.type === "skill" || origin?.type === "agent") {
    return `applies only while the ${origin.type} ${origin.name} runs`
  }
  if (entry.work.type === "prompt" && source.dialect === "copilot") return "runs nothing: a new session starts with it"
  return matcher === undefined || matcherOf(entry) !== undefined
    ? "was not reached: an earlier entry decided"
    : `its matcher ${JSON.stringify(matcher)} does not match this`
}

/** Hooks of Copilot also get Claude's name of the tool. */
type Takes = (value: string, claude?: string) => boolean

const matcherOf = (entry: Entry): Takes | undefined => {
  // Some dialects have these fields.
  const { matcher, matches } = entry as Entry & {
    readonly matcher?: { readonly test?: Takes }
    readonly matches?: Takes
  }
  return matcher?.test ?? matches
}
