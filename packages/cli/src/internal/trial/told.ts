/**
 * Returns the input that a system sends to its scripts for an event. It asks the dialect itself, with an entry that
 * runs nothing.
 */
import type { JsonObject } from "@belay/core/Json"
import type * as Command from "@belay/hook-files/Command"
import type { Dialect } from "@belay/hook-files/Discovery"
import * as HookFiles from "@belay/hook-files/HookFiles"
import { dryRun } from "@belay/testing/TestHook"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { isFields } from "../fields.ts"
import type { Plan } from "./occasions.ts"

const done: Command.Finished = {
  exitCode: 0,
  stdout: "",
  stderr: "",
  timedOut: false,
  overflowed: false,
  durationMs: 0
}

const command = { type: "command", command: "true" }
const inGroup = { hooks: [command] }

/** How the systems without groups write an entry that runs nothing. */
const entries: { readonly [dialect: string]: object } = {
  copilot: { bash: "true" },
  cursor: command,
  windsurf: command
}

/** Returns nothing if the system has no such event at this point. */
export const told = (
  { dialect, event }: { readonly dialect: Dialect; readonly event: string },
  plan: Plan,
  { cwd, folder, home }: { readonly cwd: string; readonly home: string; readonly folder: string }
): Effect.Effect<JsonObject | undefined> =>
  Effect.gen(function*() {
    const file = join(folder, `${dialect}.json`)
    writeFileSync(file, JSON.stringify({ version: 1, hooks: { [event]: [entries[dialect] ?? inGroup] } }))
    let heard: JsonObject | undefined
    const run: Command.Runner = ({ input }) =>
      Effect.sync(() => {
        const value = Result.getOrUndefined(Result.try(() => JSON.parse(input) as unknown))
        // `isFields` has checked it.
        if (isFields(value)) heard ??= value as JsonObject
        return done
      })
    const { hooks } = HookFiles.load({
      cwd,
      home,
      sources: [{ dialect, file }],
      trust: join(folder, "told"),
      transcripts: false,
      run
    })
    yield* Effect.promise(() =>
      // The event belongs to the point of the plan.
      dryRun(hooks, plan.point, plan.event as never, { cwd, agent: { depth: plan.depth } })
    )
    return heard
  })
