/** A hook of Cursor's files whose entries are answered by the test. */
import type * as Command from "@belay/hook-files/Command"
import * as Cursor from "@belay/hook-files/Cursor"
import { assert } from "@effect/vitest"
import type * as Effect from "effect/Effect"
import { answered } from "../../support/runners.ts"

type Answers = { readonly [what: string]: Command.Finished | Effect.Effect<Command.Finished> }

export const world = (
  events: { readonly [event: string]: ReadonlyArray<object> },
  answers: Answers = {},
  options: Partial<Cursor.Options> = {}
) => {
  const { handlers, warnings } = Cursor.decode(JSON.stringify({ version: 1, hooks: events }), "hooks.json")
  assert.deepEqual(warnings, [])
  return answered((runners) => Cursor.make({ handlers, projectDir: "/p", runners, ...options }), answers)
}

export const commands = (...lines: ReadonlyArray<string>) => lines.map((command) => ({ command }))
