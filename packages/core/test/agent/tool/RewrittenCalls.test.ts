/** Hooks that change the arguments of a call make each change once, also when somebody is asked in between. */
import { assert, describe, it } from "@effect/vitest"
import { type } from "arktype"
import { createAgent } from "../../../src/agent/createAgent.ts"
import { defineTool } from "../../../src/agent/defineTool.ts"
import type { AgentHook } from "../../../src/hook/AgentHook.ts"
import * as HookAction from "../../../src/hook/HookAction.ts"
import type { RuntimePolicy } from "../../../src/port/RuntimePolicy.ts"
import { recording } from "../../support/agent.ts"
import { asks, scripted } from "../../support/model.ts"

type Reinvoke = "never" | "ifChanged"

const commandOf = (args: unknown): string => (args as { readonly command: string }).command

const rewriter = (name: string, priority: number, reinvoke: Reinvoke): AgentHook => ({
  name,
  priority,
  reinvoke,
  preToolCall: ({ args, id, name: tool }) =>
    HookAction.transform({ id, name: tool, args: { command: `${name} ${commandOf(args)}` } })
})

/** Asks a person. With `proposes`, the question has arguments of its own. */
const asker = (priority: number, reinvoke: Reinvoke, proposes: boolean): AgentHook => ({
  name: "asker",
  priority,
  reinvoke,
  preToolCall: ({ args }) =>
    HookAction.ask("may it?", undefined, proposes ? { args: { command: `ask ${commandOf(args)}` } } : {})
})

const policies: { readonly [name: string]: RuntimePolicy | undefined } = {
  "no policy": undefined,
  "a policy that asks": { check: () => ({ type: "ask", reason: "policy", grant: { sandbox: "none" } }) }
}

const cases = (["never", "ifChanged"] as const).flatMap((one) =>
  (["never", "ifChanged"] as const).flatMap((two) =>
    [10, 60, 110].flatMap((priority) =>
      (["never", "ifChanged"] as const).flatMap((asking) =>
        [true, false].flatMap((proposes) =>
          Object.keys(policies).map((policy) => ({ one, two, priority, asking, proposes, policy }))
        )
      )
    )
  )
)

const prepare = ({ asking, one, policy, priority, proposes, two }: typeof cases[number]) => {
  const run = recording("run")
  const shown: Array<string> = []
  const make = (inPlace: boolean) => {
    const found = policies[policy]
    return createAgent({
      provider: scripted([], {
        after: ({ messages }) =>
          messages.some(({ role }) => role === "tool") ? "done" : asks(["run", { command: "go" }, "c"])
      }).provider,
      tools: [run.tool],
      hooks: [rewriter("one", 50, one), rewriter("two", 100, two), asker(priority, asking, proposes)],
      ...(found === undefined ? {} : { policy: found }),
      ...(inPlace
        ? {
          onAsk: ({ args }) => {
            shown.push(commandOf(args))
            return { type: "approve" }
          }
        }
        : {})
    })
  }
  const order: ReadonlyArray<readonly [number, string]> = [
    [50, "one"],
    [100, "two"],
    ...proposes ? [[priority, "ask"] as const] : []
  ]
  const expected = order.toSorted(([a], [b]) => a - b).reduce((text, [, name]) => `${name} ${text}`, "go")
  return { run, make, shown, expected }
}

describe("a change of arguments is made once", () => {
  it.each(cases)("with an answer in place (%o)", async (one) => {
    const { expected, make, run, shown } = prepare(one)
    await using agent = make(true)
    const { status } = await agent.run("go")
    assert.strictEqual(status, "completed")
    assert.deepStrictEqual(run.ran, [{ command: expected }])
    assert.isNotEmpty(shown)
  })

  it.each(cases)("with answers in other processes (%o)", async (one) => {
    const { expected, make, run } = prepare(one)
    let result = await make(false).run("go")
    for (let n = 0; result.status === "suspended"; n++) {
      assert.isBelow(n, 6)
      const shown = commandOf(result.pending[0]!.args)
      result = await make(false).resume(JSON.stringify(result.snapshot), { c: { type: "approve" } })
      if (result.status === "completed") assert.strictEqual(expected.endsWith(shown), true)
    }
    assert.strictEqual(result.status, "completed")
    assert.deepStrictEqual(run.ran, [{ command: expected }])
  })
})

describe("a call that a hook changes, for a tool whose schema cannot read frozen values", () => {
  it("is decoded like the call of the model", async () => {
    const ran: Array<unknown> = []
    const tool = defineTool({
      name: "pay",
      description: "Pays",
      // arktype writes what it has parsed into a copy that is as frozen as the original.
      input: type({ on: "string.date.parse", euros: "number = 5" }),
      execute: (args) => void ran.push(args)
    })
    const agent = createAgent({
      provider: scripted([asks(["pay", { on: "2026-01-01" }])]).provider,
      tools: [tool],
      hooks: [{
        name: "change",
        preToolCall: ({ id, name }) => HookAction.transform({ id, name, args: { on: "2026-02-02" } })
      }]
    })
    await agent.run("go")
    assert.deepStrictEqual(ran, [{ on: new Date("2026-02-02"), euros: 5 }])
    await agent.close()
  })
})
