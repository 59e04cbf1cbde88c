/** What a point costs, by number of hooks and kind of answer, against a loop that a user would write by hand. */
import type { AgentHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import * as HookChain from "@belay/core/HookChain"
import type { HookContext } from "@belay/core/HookContext"
import type { TurnInput } from "@belay/core/Turn"
import * as Effect from "effect/Effect"
import { measure, table } from "./measure.ts"
import { scope } from "./scope.ts"

const input: TurnInput = { message: "hello" }
const action = HookAction.transform(input)
const counts = [0, 1, 5, 20, 100]

let sink = 0
const touch = (event: TurnInput) => {
  sink += event.message.length
}

/**
 * Five different functions of each kind, as real hooks are all different: with one function for all, the baseline would
 * be inlined into nothing, which no list of hooks ever is.
 */
const kinds: { readonly [kind: string]: ReadonlyArray<AgentHook["preTurn"]> } = {
  nothing: [
    (event) => touch(event),
    (event) => void (sink += event.message.length + 1),
    ({ message }) => void (sink += message.length),
    (event) => {
      if (event.message === "") sink++
    },
    (event) => {
      sink -= event.message.length
    }
  ],
  action: [
    (event) => (touch(event), action),
    (event) => (sink += event.message.length + 1, action),
    ({ message }) => (sink += message.length, action),
    (event) => event.message === "" ? undefined : action,
    (event) => {
      sink -= event.message.length
      return action
    }
  ],
  Effect: [
    (event) => (touch(event), Effect.succeed(action)),
    (event) => (sink += event.message.length + 1, Effect.succeed(action)),
    ({ message }) => (sink += message.length, Effect.succeed(action)),
    (event) => event.message === "" ? undefined : Effect.succeed(action),
    (event) => {
      sink -= event.message.length
      return Effect.succeed(action)
    }
  ],
  promise: [
    async (event) => (touch(event), action),
    async (event) => (sink += event.message.length + 1, action),
    async ({ message }) => (sink += message.length, action),
    async (event) => event.message === "" ? undefined : action,
    async (event) => {
      sink -= event.message.length
      return action
    }
  ],
  generator: [
    function*(event) {
      touch(event)
      return yield* Effect.succeed(action)
    },
    function*(event) {
      sink += event.message.length + 1
      return yield* Effect.succeed(action)
    }
  ]
}

type Step = (event: TurnInput, ctx: HookContext) => unknown

/** The baselines: the loop one would write for hooks that answer at once, and for async functions. */
const bareLoop = (hooks: ReadonlyArray<{ readonly run: Step }>, event: TurnInput): TurnInput => {
  let current = event
  for (const hook of hooks) {
    const answer = hook.run(current, scope as never) as HookAction.HookAction<TurnInput> | undefined
    if (answer !== undefined && answer._tag === "Transform") current = answer.value
  }
  return current
}
const promiseLoop = async (hooks: ReadonlyArray<{ readonly run: Step }>, event: TurnInput): Promise<TurnInput> => {
  let current = event
  for (const hook of hooks) {
    const answer = (await hook.run(current, scope as never)) as HookAction.HookAction<TurnInput> | undefined
    if (answer !== undefined && answer._tag === "Transform") current = answer.value
  }
  return current
}

export const chain = async (): Promise<string> => {
  const parts: Array<string> = []
  for (const [kind, methods] of Object.entries(kinds)) {
    const waits = kind === "promise" || kind === "generator" || kind === "Effect"
    for (const count of counts) {
      const hooks = Array.from(
        { length: count },
        (_, index) => ({ name: `h${index}`, preTurn: methods[index % methods.length] }) as AgentHook
      )
      const compiled = HookChain.makeUnsafe(hooks)
      // Promises are awaited by a promise loop; everything else is measured against the plain loop over the same
      // answers.
      const plain = kinds[kind === "promise" || kind === "nothing" ? kind : "action"]!
      const bare = Array.from({ length: count }, (_, index) => ({ run: plain[index % plain.length] as Step }))
      const inFiber = Effect.fnUntraced(function*(times: number) {
        for (let i = 0; i < times; i++) {
          const outcome = compiled.runNow("preTurn", input, scope)
          if (outcome !== undefined && Effect.isEffect(outcome)) yield* outcome
        }
      })
      const figures = await measure(
        [
          kind === "promise"
            ? { name: `promise loop, ${count} hooks`, run: (times) => repeat(times, () => promiseLoop(bare, input)) }
            : { name: `bare loop, ${count} hooks`, run: (times) => each(times, () => bareLoop(bare, input)) },
          waits
            ? { name: `chain, ${kind}`, run: (times) => Effect.runPromise(inFiber(times)) }
            : { name: `chain, ${kind}`, run: (times) => each(times, () => compiled.runNow("preTurn", input, scope)) }
        ],
        Math.max(2_000, Math.floor((waits ? 400_000 : 4_000_000) / (count + 2))),
        9
      )
      parts.push(table(`${count} hooks answering with ${kind}`, figures))
    }
  }
  return parts.join("\n") + (sink === -1 ? " " : "")
}

const each = (times: number, run: () => unknown) => {
  for (let i = 0; i < times; i++) run()
}
const repeat = async (times: number, run: () => Promise<unknown>) => {
  for (let i = 0; i < times; i++) await run()
}
