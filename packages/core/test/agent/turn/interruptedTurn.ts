/** Interrupts a whole turn at steps of the scheduler, and checks that the session stays usable. */
import { random } from "@belay/testing/SeededRandom"
import { assert } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scheduler from "effect/Scheduler"
import * as Scope from "effect/Scope"
import type { AgentConfig } from "../../../src/agent/AgentConfig.ts"
import * as AgentRuntime from "../../../src/agent/AgentRuntime.ts"
import { defineTool } from "../../../src/agent/defineTool.ts"
import * as ProviderError from "../../../src/data/ProviderError.ts"
import type { AgentHook } from "../../../src/hook/AgentHook.ts"
import * as HookAction from "../../../src/hook/HookAction.ts"
import * as HookState from "../../../src/hook/HookState.ts"
import * as SessionStore from "../../../src/port/SessionStore.ts"
import { anything, assertValid, within } from "../../support/agent.ts"
import { asks, scripted } from "../../support/model.ts"
import { stepper } from "../../support/stepper.ts"

const runs = HookState.key("runs", 0)

/** A turn with everything that can be interrupted; `held` counts what is acquired and not released. */
const world = (variant: { readonly guarded: boolean; readonly stored: boolean; readonly asked: boolean }) => {
  const held = { tools: 0, hooks: 0 }
  const resource = (kind: "tools" | "hooks") =>
    Effect.acquireRelease(Effect.sync(() => void held[kind]++), () => Effect.sync(() => void held[kind]--))
  const model = scripted([
    new ProviderError.Connection({ provider: "one", message: "gone", partial: { text: "half an ans" } }),
    { ...asks(["effect", {}, "a"], ["promise", {}, "b"]), text: "let me look" },
    "the answer"
  ], { pause: Effect.yieldNow, piece: 4 })
  const hook: AgentHook = {
    name: "busy",
    *preTurn(_, ctx) {
      yield* Effect.yieldNow
      ctx.state.update(runs, (n) => n + 1)
    },
    preLlmCall: async () => {
      await Promise.resolve()
    },
    onLlmError: () => HookAction.transform({ type: "retry", delayMs: 0 }),
    preToolCall: (call) =>
      Effect.scoped(Effect.gen(function*() {
        yield* resource("hooks")
        yield* Effect.yieldNow
        return variant.asked && call.name === "promise" ? HookAction.ask("?") : undefined
      })),
    postToolCall: async () => {
      await Promise.resolve()
    },
    postTurn: () => Effect.yieldNow,
    ...(variant.guarded
      ? {
        hold: { chars: 4 },
        onLlmDelta: () => Effect.scoped(Effect.andThen(resource("hooks"), Effect.yieldNow))
      }
      : {})
  }
  const config: AgentConfig = {
    provider: model.provider,
    tools: [
      defineTool({
        name: "effect",
        description: "Holds a resource",
        input: anything,
        execute: () => Effect.scoped(Effect.andThen(resource("tools"), Effect.as(Effect.yieldNow, "held it")))
      }),
      defineTool({
        name: "promise",
        description: "Promises",
        input: anything,
        execute: async () => {
          await Promise.resolve()
          return "kept it"
        }
      })
    ],
    hooks: [hook],
    ...(variant.stored ? { store: SessionStore.inMemory() } : {}),
    ...(variant.asked
      ? {
        onAsk: async () => {
          await Promise.resolve()
          return { type: "approve" as const }
        }
      }
      : {})
  }
  return { config, held, model }
}

const variants = [
  { guarded: false, stored: false, asked: false },
  { guarded: true, stored: false, asked: false },
  { guarded: false, stored: true, asked: true },
  { guarded: true, stored: true, asked: true }
]

/** Runs the turn and interrupts it at a step; returns how many steps there were. */
const interruptAt = async (
  variant: (typeof variants)[number],
  at: number,
  pick?: (waiting: number) => number
) => {
  const { config, held, model } = world(variant)
  const scope = Scope.makeUnsafe()
  const runtime = await Effect.runPromise(Scope.provide(AgentRuntime.make(config), scope))
  const session = await Effect.runPromise(runtime.session())
  let events = 0
  runtime.listen(() => void events++)
  const schedule = stepper(3, at, () => fiber.interruptUnsafe(), pick)
  const fiber: Fiber.Fiber<unknown, unknown> = Effect.runForkWith(Context.make(Scheduler.Scheduler, schedule))(
    session.run("go")
  )
  const exit = await within(Effect.runPromise(Fiber.await(fiber)))
  const where = `${JSON.stringify(variant)} at ${at}`
  // Tools and hooks run in fibers of their own, which are interrupted without waiting for their finalizers.
  for (let tick = 0; tick < 50 && held.tools + held.hooks + model.open() > 0; tick++) {
    await new Promise((resolve) => setImmediate(resolve))
  }
  assert.strictEqual(model.open(), 0, where)
  assert.deepStrictEqual(held, { tools: 0, hooks: 0 }, where)
  assertValid(session.messages)
  const steps = schedule.steps()
  const next = await within(Effect.runPromise(session.run("still there?")))
  assert.strictEqual(next.status, "completed", where)
  assertValid(session.messages)
  assert.isAtMost(session.state.get(runs), 2)
  await Effect.runPromise(Scope.close(scope, Exit.void))
  return { exit, steps, events }
}

const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length

/** Interrupts every variant at every `stride`-th step, then at random steps in random orders, `total` times or more. */
export const sweep = async ({ stride, total }: { readonly stride: number; readonly total: number }) => {
  const before = timers()
  let points = 0
  let interrupted = 0
  let completed = 0
  for (const [offset, variant] of variants.entries()) {
    const { exit, steps } = await interruptAt(variant, Infinity)
    assert.isTrue(Exit.isSuccess(exit))
    for (let at = 1 + offset % stride; at <= steps; at += stride) {
      points++
      const ended = await interruptAt(variant, at)
      if (Exit.isSuccess(ended.exit)) completed++
      else interrupted++
    }
  }
  for (let seed = 0; points < total; seed++) {
    const variant = variants[seed % variants.length]!
    const { below } = random(seed)
    points++
    const ended = await interruptAt(variant, 1 + below(200), below)
    if (Exit.isSuccess(ended.exit)) completed++
    else interrupted++
  }
  assert.isAtLeast(points, total)
  assert.isAbove(interrupted, completed)
  assert.isAtMost(timers(), before)
}
