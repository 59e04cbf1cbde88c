/** Hands one event to the hooks that are loaded, and watches what each entry does. */
import type { Json, JsonObject } from "@belay/core/Json"
import * as ProviderError from "@belay/core/ProviderError"
import * as Command from "@belay/hooks/Command"
import type { Entry } from "@belay/hooks/Discovery"
import * as HookFiles from "@belay/hooks/HookFiles"
import { type DryRun, dryRun } from "@belay/testing/TestHook"
import * as Effect from "effect/Effect"
import { spelt } from "../guide/guide.ts"
import { type Item, look, optionsOf, shown, trustOf, type Where, type World } from "../world.ts"
import { decide, type Decision } from "./decide.ts"
import { type Facts, planOf, textOf } from "./occasions.ts"

export interface Run {
  readonly file: string
  readonly key: string
  readonly type: string
  readonly command: string
  readonly matched: boolean
  /** Why it did not run. */
  readonly why?: string
  readonly outcome?: string
  readonly exitCode?: number | null
  readonly durationMs?: number | null
  readonly stdout?: string
  readonly stderr?: string
}

export interface Trial extends Decision {
  readonly event: string
  readonly point: string
  readonly messages: ReadonlyArray<string>
  readonly warnings: ReadonlyArray<string>
  readonly runs: ReadonlyArray<Run>
}

export interface Asked {
  readonly where: Where
  readonly facts: Facts
  /** Seconds that each entry has at most. */
  readonly timeout?: number
  /** A folder of decisions that counts for this call alone. */
  readonly trust?: string
}

/** Tries an event. What nobody waits for has 10 seconds, or the timeout. */
export const run = ({ facts, timeout, trust, where }: Asked): Effect.Effect<Trial> =>
  Effect.gen(function*() {
    const finished: Array<Command.Finished> = []
    let running = 0
    const runner: Command.Runner = (request) =>
      Effect.suspend(() => {
        running++
        const timeoutMs = timeout === undefined ? request.timeoutMs : Math.min(request.timeoutMs, timeout * 1_000)
        return Command.run({ ...request, timeoutMs })
      }).pipe(Effect.tap((one) => Effect.sync(() => void finished.push(one))), Effect.ensuring(Effect.sync(() => void running--)))
    const options = { ...optionsOf(where), trust: trust ?? trustOf(where), transcripts: false as const, run: runner }
    if (trust !== undefined) HookFiles.load(options).untrusted.forEach((project) => project.trust())
    const { hooks, untrusted } = HookFiles.load(options)
    const plan = planOf(facts)
    const tried = yield* Effect.promise(() =>
      dryRun(hooks, plan.point, plan.event as never, {
        cwd: where.cwd,
        agent: plan.depth === 0 ? {} : { depth: 1, invokedBy: "subagent", name: "worker" },
        llm: () => new ProviderError.InvalidRequest({ provider: "belay", message: "there is no model here: try it in an agent" }),
        mcp: () => Promise.reject(new Error("there are no servers here: try it in an agent"))
      })
    )
    // What nobody waits for begins after this.
    yield* Effect.sleep(20)
    for (let waited = 0; running > 0 && waited < (timeout ?? 10) * 1_000; waited += 20) yield* Effect.sleep(20)
    const decision = decide(facts.occasion, tried)
    const { notices, warnings } = tried.seen
    return {
      event: facts.event,
      point: plan.point,
      ...decision,
      messages: notices,
      warnings: [
        ...untrusted.map(({ commands, project }) =>
          `${commands.length} hooks of ${project} do not run, because nobody trusted them: belay hooks trust, or --trust-once`
        ),
        ...warnings,
        ...tried.seen.failures.map(({ hook, message }) => `${hook}: ${message}`)
      ],
      runs: runsOf(look(where), facts, tried, finished, trust !== undefined)
    }
  })

const runsOf = (
  { files, where }: World,
  facts: Facts,
  tried: DryRun,
  finished: ReadonlyArray<Command.Finished>,
  isTrusted: boolean
): ReadonlyArray<Run> => {
  const told = tried.seen.events.filter(({ name }) => name === "hook-run").map(({ payload }) => payload as JsonObject)
  const left = [...finished]
  return files.flatMap(({ items, status }) =>
    items.flatMap((item): ReadonlyArray<Run> => {
      const { entry } = item
      const about = { file: entry.file, key: entry.key, type: entry.work.type, command: shown(entry.work) }
      const own = told.filter(({ file, key }) => file === entry.file && key === entry.key)
      if (own.length > 0) return own.map((payload) => ({ ...about, matched: true, ...ranAs(payload, left) }))
      // What an executable is for is known when it was asked.
      const isHeld = status === "silenced" || (status === "untrusted" && !isTrusted)
      if (!isMeant(item, facts) && !(isHeld && item.source.isProgram === true)) return []
      const why = status === "silenced" ? "is silenced" : status === "untrusted" && !isTrusted
        ? "is not trusted: belay hooks trust, or --trust-once"
        : whyNot(item, facts, told.length > 0 ? files.flatMap((file) => file.items) : [], told)
      return [{ ...about, matched: false, why: where.off ? "hooks are off" : why }]
    })
  )
}

/** The whole of what a command wrote: events have the beginning. */
const ranAs = (payload: JsonObject, left: Array<Command.Finished>): Partial<Run> => {
  const { durationMs = null, exitCode = null } = payload
  const [stdout, stderr] = [textOf(payload, "stdout") ?? "", textOf(payload, "stderr") ?? ""]
  const index = payload["type"] !== "command" ?
    -1 :
    left.findIndex((one) =>
      (one.exitCode ?? null) === exitCode && one.durationMs === durationMs && one.stdout.startsWith(stdout.slice(0, 100))
    )
  const [whole] = index < 0 ? [] : left.splice(index, 1)
  return {
    outcome: textOf(payload, "outcome") ?? "",
    exitCode: exitCode as number | null,
    durationMs: durationMs as number | null,
    stdout: whole?.stdout ?? stdout,
    stderr: whole?.stderr ?? stderr
  }
}

const isMeant = ({ entry, event }: Item, { event: wanted, occasion }: Facts): boolean =>
  event !== undefined && event.occasion === occasion && (occasion !== "signal" || spelt(entry.event) === spelt(wanted))

const whyNot = (item: Item, facts: Facts, others: ReadonlyArray<Item>, told: ReadonlyArray<JsonObject>): string => {
  const { entry, matcher, rule } = item
  const takes = matcherOf(entry)
  const value = valueOf(item, facts)
  if (matcher !== undefined && takes !== undefined && value !== undefined && !takes(value)) {
    return `its matcher ${JSON.stringify(matcher)} does not take ${value}`
  }
  if (rule !== undefined) return `its if ${JSON.stringify(rule)} does not hold`
  const same = others.find((one) =>
    one !== item && JSON.stringify(one.entry.work) === JSON.stringify(entry.work) &&
    told.some(({ file, key }) => file === one.entry.file && key === one.entry.key)
  )
  if (same !== undefined) return `the same entry ran from ${same.entry.file}`
  const { origin } = entry as Entry & { readonly origin?: { readonly type: string; readonly name: string } }
  if (origin?.type === "skill" || origin?.type === "agent") return `counts while the ${origin.type} ${origin.name} is at work`
  if (matcher === undefined || takes !== undefined) return "was not reached: what came before it decided"
  return `its matcher ${JSON.stringify(matcher)} does not take ${value ?? "this"}`
}

const matcherOf = (entry: Entry): ((value: string) => boolean) | undefined => {
  const { matcher, matches } = entry as Entry & {
    readonly matcher?: { readonly test?: (value: string) => boolean }
    readonly matches?: (value: string) => boolean
  }
  return matcher?.test ?? matches
}

const valueOf = ({ event }: Item, { payload, tool }: Facts): string | undefined => {
  if (event?.matcher === undefined) return undefined
  const value: Json | undefined = /^tool_?name$/i.test(event.matcher) ? tool : payload[event.matcher]
  return typeof value === "string" ? value : event.values?.[0]
}
