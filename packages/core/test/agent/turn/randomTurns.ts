/** Checks random turns: the transcript stays valid, and tools run only with arguments that every gate has seen. */
import { random, type SeededRandom } from "@belay/testing/SeededRandom"
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { AgentConfig } from "../../../src/agent/AgentConfig.ts"
import { createAgent } from "../../../src/agent/createAgent.ts"
import type { AnyTool } from "../../../src/agent/defineTool.ts"
import type { Json } from "../../../src/data/Json.ts"
import type { ToolCall } from "../../../src/data/Message.ts"
import * as ProviderError from "../../../src/data/ProviderError.ts"
import type { Decision } from "../../../src/data/RunState.ts"
import type { RunResult } from "../../../src/guard/RunResult.ts"
import type { AgentHook } from "../../../src/hook/AgentHook.ts"
import * as HookAction from "../../../src/hook/HookAction.ts"
import { assertValid, recording, within } from "../../support/agent.ts"
import { type Line, scripted } from "../../support/model.ts"

const pause = (r: SeededRandom) => r.chance(0.3) ? Effect.yieldNow : r.chance(0.1) ? Effect.sleep(1) : Effect.void

/** Any of these, now or later. */
const sometime = <A>(r: SeededRandom, answer: A): A | Promise<A> | Effect.Effect<A> =>
  r.chance(0.5) ? answer : r.chance(0.5) ? Promise.resolve(answer) : Effect.as(pause(r), answer)

const errors = (r: SeededRandom) => {
  const fields = { provider: "one", message: "bad luck", ...(r.chance(0.5) ? { partial: { text: "half" } } : {}) }
  return r.pick([
    () => new ProviderError.Connection(fields),
    () => new ProviderError.Auth(fields),
    () => new ProviderError.RateLimited({ ...fields, retryAfterMs: 0 }),
    () => new ProviderError.ContextOverflow(fields)
  ])()
}

const callOf = (r: SeededRandom): ToolCall => ({
  id: r.pick(["a", "b", "c", "", "constructor", `x${r.below(1_000_000)}`]),
  name: r.pick(["look", "look", "slow", "fail", "alone", "nobody"]),
  args: r.pick<Json>([{ n: 1 }, {}, null, [1]]),
  ...(r.chance(0.1) ? { malformed: "{" } : {})
})

const lineOf = (r: SeededRandom): Line =>
  r.chance(0.15)
    ? errors(r)
    : r.chance(0.55)
    ? { text: r.pick(["", "so"]), toolCalls: Array.from({ length: 1 + r.below(4) }, () => callOf(r)) }
    : "an answer"

const toolsOf = (r: SeededRandom): ReadonlyArray<AnyTool> => [
  recording("look", () => sometime(r, { saw: "it" })).tool,
  recording("slow", () => Effect.as(Effect.sleep(r.below(4)), "slow"), { idempotent: true }).tool,
  recording("fail", () => {
    throw new Error("failed")
  }).tool,
  recording("alone", () => sometime(r, null), { exclusive: true }).tool
]

const hookOf = (r: SeededRandom, name: string): AgentHook => {
  const at = (p: number, ...answers: ReadonlyArray<() => unknown>) => (): never => {
    if (r.chance(0.03)) throw new Error("a bug")
    return sometime(r, r.chance(p) ? r.pick(answers)() : undefined) as never
  }
  const { abort, ask, reject, respond, transform } = HookAction
  const all: AgentHook = {
    name,
    priority: r.below(5),
    kind: r.pick(["advisory", "policy", "observer"]),
    onSessionStart: at(0.05, () => reject("no"), () => abort("no")),
    preTurn: at(0.1, () => reject("no"), () => respond({ text: "at once" }), () => abort("no")),
    preLlmCall: at(
      0.05,
      () => reject("no"),
      () => abort("no"),
      () => respond({ model: "h", text: "cached", toolCalls: [], finishReason: "stop" })
    ),
    postLlmCall: at(0.05, () => reject("no"), () => reject("no", { feedback: "better" }), () => abort("no")),
    onLlmError: at(
      0.7,
      () => transform({ type: "retry", delayMs: 0 }),
      () => transform({ type: "fail" }),
      () => reject("no")
    ),
    preToolCall: at(0.2, () => reject("no"), () => respond("instead"), () => ask("may I?"), () => abort("no")),
    postToolCall: at(0.1, () => reject("bad"), () => abort("no"), () => transform({ ok: true, output: "changed" })),
    postStep: at(
      0.05,
      () => abort("no"),
      () => transform([{ role: "tool", toolCallId: "z", toolName: "z", content: "" }])
    ),
    preStop: (_, ctx) => r.chance(0.15) ? ctx.followUp("more") : undefined,
    postTurn: at(0.05, () => reject("no"), () => abort("no")),
    onTurnError: at(0.2, () => HookAction.replace({ text: "sorry" }))
  }
  const keep = Object.entries(all).filter(([key]) => !/^(pre|post|on)/.test(key) || r.chance(0.5))
  return {
    ...Object.fromEntries(keep) as unknown as AgentHook,
    ...(r.chance(0.2)
      ? { onLlmDelta: at(0.02, () => reject("cut"), () => abort("no")), hold: r.pick(["none", "untilPass"] as const) }
      : {})
  }
}

const configOf = (r: SeededRandom): AgentConfig => ({
  provider: scripted(Array.from({ length: 40 }, () => lineOf(r)), { pause: pause(r), piece: 2 }).provider,
  tools: toolsOf(r),
  hooks: Array.from({ length: r.below(4) }, (_, n) => hookOf(r, `h${n}`)),
  limits: {
    steps: 1 + r.below(5),
    toolCalls: 1 + r.below(8),
    attempts: 1 + r.below(3),
    followUps: 1 + r.below(2),
    wallClockMs: r.chance(0.1) ? 1 + r.below(5) : 10_000
  },
  ...(r.chance(0.2)
    ? {
      policy: {
        check: () =>
          r.pick([{ type: "allow", grant: { sandbox: "none" } }, { type: "deny", reason: "no" }, {
            type: "ask",
            reason: "?",
            grant: { sandbox: "none" }
          }])
      }
    }
    : {}),
  ...(r.chance(0.2)
    ? {
      onAsk: () =>
        r.pick<Decision>([{ type: "approve" }, { type: "deny", reason: "no" }, { type: "edit", args: { n: 2 } }])
    }
    : {}),
  ...(r.chance(0.2) ? { window: { tokens: 50, maxMessages: 6, keepRecent: 2 } } : {})
})

/** Runs three turns of every agent, and checks the transcript after every ending. */
export const checkTranscripts = async (agents: number) => {
  const endings = new Map<string, number>()
  for (let seed = 0; seed < agents; seed++) {
    const r = random(seed)
    const agent = createAgent(configOf(r))
    if (r.chance(0.5)) agent.on(() => {})
    const session = await agent.session()
    let last: RunResult | undefined
    for (let turn = 0; turn < 3; turn++) {
      const controller = new AbortController()
      if (r.chance(0.2)) setTimeout(() => controller.abort(), r.below(4))
      const decisions = last?.status === "suspended"
        ? Object.fromEntries(
          last.pending.filter(() => r.chance(0.7)).map((
            { callId }
          ) => [
            callId,
            r.pick<Decision>([{ type: "approve" }, { type: "deny", reason: "no" }, { type: "respond", output: 1 }])
          ])
        )
        : {}
      const resumable = last?.status === "suspended" || last?.status === "limited"
        ? JSON.stringify(last.snapshot)
        : undefined
      const running = resumable !== undefined && r.chance(0.6)
        ? agent.resume(resumable, decisions, { signal: controller.signal })
        : session.run(`turn ${turn}`, { signal: controller.signal })
      last = undefined
      let ending: string
      try {
        last = await within(running)
        ending = last.status
        assertValid(last.messages)
      } catch (error) {
        ending = String((error as { readonly _tag?: string })._tag ?? (error as Error).name)
      }
      endings.set(ending, (endings.get(ending) ?? 0) + 1)
      assert.notStrictEqual(ending, "PortFailed", `seed ${seed}`)
      assert.notStrictEqual(ending, "AssertionError", `seed ${seed}`)
      assert.notStrictEqual(ending, "Error", `seed ${seed}`)
      assertValid(session.messages)
    }
    await within(agent.close())
  }
  for (const ending of ["completed", "aborted", "suspended", "limited", "HookRejected", "AbortError"]) {
    assert.isAbove(
      endings.get(ending) ?? 0,
      agents / 60,
      `too few turns ended ${ending}: ${JSON.stringify([...endings])}`
    )
  }
}

/** Runs a tool call with random gates and hooks that change the arguments, and checks what the tool got. */
export const checkGates = async (seeds: number) => {
  let reinvoked = 0
  for (let seed = 0; seed < seeds; seed++) {
    const r = random(seed)
    const seen = new Map<string, string>()
    const asked = new Map<string, number>()
    const answered = new Set<string>()
    const hooks = Array.from({ length: 1 + r.below(6) }, (_, n): AgentHook => {
      const name = `h${n}`
      const priority = r.below(4)
      if (r.chance(0.5)) {
        return {
          name,
          priority,
          kind: "policy",
          reinvoke: "ifChanged",
          preToolCall: ({ args }) => {
            seen.set(name, JSON.stringify(args))
            asked.set(name, (asked.get(name) ?? 0) + 1)
            return sometime(r, r.chance(0.1) ? HookAction.ask("?") : undefined)
          }
        }
      }
      const amount = r.below(3)
      return {
        name,
        priority,
        preToolCall: (call) => {
          const { n: value } = call.args as { readonly n: number }
          return sometime(
            r,
            (r.chance(0.3) ? HookAction.replace : HookAction.transform)({ ...call, args: { n: value + amount } })
          )
        }
      }
    })
    const act = recording("act")
    await using agent = createAgent({
      provider: scripted([{ toolCalls: [{ id: "a", name: "act", args: { n: 0 } }] }]).provider,
      tools: [act.tool],
      hooks,
      onAsk: ({ args, by }) => {
        const edited = { n: r.below(5) }
        const approves = r.chance(0.5)
        // The person's decision about a value counts as the gate's answer for it.
        answered.add(`${by} ${JSON.stringify(approves ? args : edited)}`)
        return approves ? { type: "approve" } : { type: "edit", args: edited }
      }
    })
    await within(agent.run("go"))
    if ([...asked.values()].some((times) => times > 1)) reinvoked++
    assert.isAtMost(act.ran.length, 1)
    for (const args of act.ran) {
      for (const gate of hooks.filter(({ reinvoke }) => reinvoke !== undefined)) {
        if (!answered.has(`${gate.name} ${JSON.stringify(args)}`)) {
          assert.strictEqual(seen.get(gate.name), JSON.stringify(args), `seed ${seed}, ${gate.name}`)
        }
      }
    }
  }
  assert.isAbove(reinvoked, seeds / 100)
}
