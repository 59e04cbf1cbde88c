/** A hook of Gemini CLI's settings whose commands are answered by the test. */
import type * as Command from "@belay/hook-files/Command"
import * as Gemini from "@belay/hook-files/Gemini"
import { assert } from "@effect/vitest"
import type * as Effect from "effect/Effect"
import { answered } from "../../support/runners.ts"
import { answer } from "../claude/support.ts"

type Answers = { readonly [what: string]: Command.Finished | Effect.Effect<Command.Finished> }

export const world = (
  events: { readonly [event: string]: ReadonlyArray<object> },
  answers: Answers = {},
  options: Partial<Gemini.Options> = {}
) => {
  const { handlers, warnings } = Gemini.decode(JSON.stringify({ hooks: events }), "settings.json")
  assert.deepEqual(warnings, [])
  return answered((runners) => Gemini.make({ handlers, projectDir: "/p", runners, ...options }), answers)
}

export const group = (commands: ReadonlyArray<string>, more: object = {}) => ({
  ...more,
  hooks: commands.map((command) => ({ type: "command", command }))
})

export const specific = (fields: object, more: object = {}) => answer({ ...more, hookSpecificOutput: fields })
