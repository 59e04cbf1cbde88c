/** A hook whose entries are answered by the test. */
import type { AgentHook } from "@belay/core/AgentHook"
import * as HookChain from "@belay/core/HookChain"
import type { In } from "@belay/core/HookPoint"
import type { Json } from "@belay/core/Json"
import type * as Command from "@belay/hook-files/Command"
import type { Runners, Task } from "@belay/hook-files/Runners"
import * as TestScope from "@belay/testing/TestScope"
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { answer } from "../dialect/claude/support.ts"

interface Told {
  /** The command, the URL or the prompt. */
  readonly what: string
  readonly input: { readonly [key: string]: Json }
  readonly task: Task
}

const whatOf = ({ work }: Task): string =>
  work.type === "command" ? work.command : work.type === "http" ? work.url : work.type

/** Makes a hook with runners of the test, and runs points of it. */
export const answered = (
  make: (runners: Runners) => AgentHook,
  answers: { readonly [what: string]: Command.Finished | Effect.Effect<Command.Finished> } = {}
) => {
  const told: Array<Told> = []
  const heard = {
    injected: [] as Array<string>,
    users: [] as Array<string>,
    follow: [] as Array<string>,
    events: [] as Array<Json>
  }
  const hook = make((task) =>
    Effect.suspend(() => {
      const what = whatOf(task)
      told.push({ what, input: task.input, task })
      const found = answers[what] ?? answer()
      return Effect.isEffect(found) ? found : Effect.succeed(found)
    })
  )
  const chain = HookChain.makeUnsafe([hook])
  const of = (more: Parameters<typeof TestScope.make>[0] = {}) =>
    TestScope.make({
      cwd: "/p",
      active: () => true,
      emit: (name, payload) => void (name === "hook-run" && heard.events.push(payload)),
      inject: (text) => void heard.injected.push(text),
      notifyUser: (message) => void heard.users.push(message),
      followUp: (message) => void heard.follow.push(message),
      ...more
    })
  const scope = of()
  type Action = {
    readonly _tag: string
    readonly reason?: string
    readonly value?: unknown
    readonly output?: unknown
    readonly userMessage?: string
  }
  const at = <P extends Parameters<typeof chain.run>[0]>(point: P, event: In<P>, where = scope) =>
    Effect.map(chain.run(point, event as never, where), ({ action, event: changed, failure }) => {
      assert.isUndefined(failure, JSON.stringify(failure))
      return { ...action as Action, event: changed as unknown as { readonly [key: string]: Json } }
    })
  return { told, heard, scope, of, at, hook }
}
