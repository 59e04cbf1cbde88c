/** Sends one event to the loaded hooks and records what each entry does. */
import type { JsonObject } from "@belay/core/Json"
import * as ProviderError from "@belay/core/ProviderError"
import * as Command from "@belay/hook-files/Command"
import * as HookFiles from "@belay/hook-files/HookFiles"
import { dryRun } from "@belay/testing/TestHook"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { isFields } from "../fields.ts"
import { count } from "../screen.ts"
import { isAsked, look, optionsOf, trustOf, type Where } from "../world.ts"
import { decide, type Decision } from "./decide.ts"
import { type Facts, overOf, planOf } from "./occasions.ts"
import { notTrusted, type Run, runsOf } from "./runs.ts"
import * as Transcript from "./transcript.ts"

export interface Trial extends Decision {
  readonly event: string
  readonly point: string
  /** Entries of the project for this event that did not run because nobody has trusted them. */
  readonly untrusted: number
  readonly messages: ReadonlyArray<string>
  readonly warnings: ReadonlyArray<string>
  readonly runs: ReadonlyArray<Run>
}

export interface TrialRequest {
  readonly where: Where
  readonly facts: Facts
  /** Maximum seconds for each entry. */
  readonly timeout?: number
  /** Run entries of an untrusted project for this call. */
  readonly trustOnce?: boolean
}

/** Tries an event. Background entries have 10 seconds, or the timeout. */
export const run = (asked: TrialRequest): Effect.Effect<Trial> =>
  Effect.acquireUseRelease(
    Effect.sync(throwAway),
    ({ path }) => runInFolder(asked, path),
    ({ remove }) => Effect.sync(remove)
  )

/** A temporary folder. It is removed afterwards, also if the process is killed with a signal. */
const throwAway = (): { readonly path: string; readonly remove: () => void } => {
  const path = mkdtempSync(join(tmpdir(), "belay-test-"))
  const remove = () => {
    process.off("exit", remove)
    rmSync(path, { recursive: true, force: true })
  }
  process.once("exit", remove)
  return { path, remove }
}

const runInFolder = (
  { facts, timeout, trustOnce = false, where }: TrialRequest,
  folder: string
): Effect.Effect<Trial> =>
  Effect.gen(function*() {
    const finished: Array<Command.Finished> = []
    const over = overOf(facts)
    let running = 0
    const runner: Command.Runner = (request) =>
      Effect.suspend(() => {
        running++
        const timeoutMs = timeout === undefined ? request.timeoutMs : Math.min(request.timeoutMs, timeout * 1_000)
        return Command.run({ ...request, input: laid(over, request.input), timeoutMs })
      }).pipe(
        Effect.tap((one) => Effect.sync(() => void finished.push(one))),
        Effect.ensuring(Effect.sync(() => void running--))
      )
    const options = {
      ...loadedBy(where),
      trust: trustOnce ? join(folder, "trust") : trustOf(where),
      transcripts: join(folder, "transcripts"),
      run: runner
    }
    if (trustOnce) HookFiles.load(options).untrusted.forEach((project) => project.trust())
    const { hooks, untrusted } = HookFiles.load(options)
    Transcript.write(options.transcripts, hooks, facts, where.cwd)
    const plan = planOf(facts)
    const outcome = yield* Effect.promise(() =>
      // The event belongs to the point of the plan.
      dryRun(hooks, plan.point, plan.event as never, {
        sessionId: Transcript.sessionId,
        cwd: where.cwd,
        agent: plan.depth === 0 ? {} : { depth: plan.depth, invokedBy: "subagent", name: "worker" },
        llm: () =>
          new ProviderError.InvalidRequest({
            provider: "belay",
            message: "no model is available here: try it in an agent"
          }),
        mcp: () => Promise.reject(new Error("no servers are available here: try it in an agent"))
      })
    )
    // Background entries start after this.
    yield* Effect.sleep(20)
    for (let waited = 0; running > 0 && waited < (timeout ?? 10) * 1_000; waited += 20) yield* Effect.sleep(20)
    const decision = decide(facts.occasion, outcome)
    const { notices, warnings } = outcome.seen
    const runs = yield* runsOf(look(where), { facts, plan, folder, isTrusted: trustOnce }, outcome, finished)
    return {
      event: facts.event,
      point: plan.point,
      ...decision,
      untrusted: runs.filter(({ why }) => why === notTrusted).length,
      messages: notices,
      warnings: [
        ...untrusted.map(({ commands, project }) =>
          `${count(commands.length, "entry", "entries")} of ${project} ${
            commands.length === 1 ? "does" : "do"
          } not run because nobody has trusted ${
            commands.length === 1 ? "it" : "them"
          }: belay hooks trust, or --trust-once`
        ),
        ...warnings,
        ...outcome.seen.failures.map(({ hook, message }) => `${hook}: ${message}`)
      ],
      runs
    }
  })

/** An agent chooses among several systems, unless somebody names those that count. */
const loadedBy = (where: Where) => {
  const { sources, ...rest } = optionsOf(where)
  return isAsked(where) || where.off ? { ...rest, sources } : rest
}

/** Merges the payload into the input of a script. An executable that is only asked for its type gets no input. */
const laid = (over: JsonObject, input: string): string => {
  if (Object.keys(over).length === 0) return input
  const told = Result.getOrUndefined(Result.try(() => JSON.parse(input) as unknown))
  return isFields(told) && Object.keys(told).length > 0 ? `${JSON.stringify({ ...told, ...over })}\n` : input
}
