/** A hook of GitHub Copilot's files whose entries are answered by the test. */
import type * as Command from "@belay/hook-files/Command"
import * as Copilot from "@belay/hook-files/Copilot"
import { assert } from "@effect/vitest"
import type * as Effect from "effect/Effect"
import { answered } from "../../support/runners.ts"

type Answers = { readonly [what: string]: Command.Finished | Effect.Effect<Command.Finished> }

export const world = (
  events: { readonly [event: string]: ReadonlyArray<object> },
  answers: Answers = {},
  options: Partial<Copilot.Options> = {}
) => {
  const { handlers, warnings } = Copilot.decode(JSON.stringify({ version: 1, hooks: events }), "hooks.json")
  assert.deepEqual(warnings, [])
  return answered((runners) => Copilot.make({ handlers, projectDir: "/p", runners, ...options }), answers)
}

export const bash = (...lines: ReadonlyArray<string>) => lines.map((line) => ({ bash: line }))
