/** Questions that somebody in this process answers: `onAsk`, and a policy that asks. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { createAgent } from "../../../../src/agent/createAgent.ts"
import { defineTool } from "../../../../src/agent/defineTool.ts"
import type { AgentHook } from "../../../../src/hook/AgentHook.ts"
import * as HookAction from "../../../../src/hook/HookAction.ts"
import { line, recording } from "../../../support/agent.ts"
import { asks, scripted } from "../../../support/model.ts"

const gate: AgentHook = {
  name: "gate",
  kind: "policy",
  tools: "deploy",
  preToolCall: () => HookAction.ask("really?", { risk: "high" })
}

describe("onAsk", () => {
  it("decides in the same process, without suspending the run", async () => {
    const asked: Array<string> = []
    const deploy = recording("deploy")
    const model = scripted([
      asks(["deploy", { n: 1 }], ["deploy", { n: 2 }], ["deploy", { n: 3 }], ["deploy", { n: 4 }])
    ])
    await using agent = createAgent({
      provider: model.provider,
      tools: [deploy.tool],
      hooks: [gate],
      onAsk: ({ args, by, reason }) => {
        const { n } = args as { readonly n: number }
        asked.push(`${by} ${reason} ${n}`)
        if (n === 1) return { type: "approve" }
        if (n === 2) return Promise.resolve({ type: "deny" as const, reason: "no" })
        return n === 3
          ? Effect.succeed({ type: "edit" as const, args: { n: 33 } })
          : { type: "respond", output: "by hand" }
      }
    })
    const result = await agent.run("go")
    assert.deepStrictEqual(asked, ["gate really? 1", "gate really? 2", "gate really? 3", "gate really? 4"])
    assert.sameDeepMembers(deploy.ran, [{ n: 1 }, { n: 33 }])
    assert.include(line(result.messages), "tool deploy: ok | tool deploy!: no | tool deploy: ok | tool deploy: by hand")
  })

  it("that fails or returns an invalid answer denies the call", async () => {
    const broken: ReadonlyArray<() => unknown> = [
      () => {
        throw new Error("no terminal")
      },
      () => Promise.reject(new Error("no terminal")),
      () => Effect.die("no terminal"),
      () => undefined,
      () => ({ type: "yes" }),
      () => Promise.resolve("approve")
    ]
    for (const onAsk of broken) {
      const deploy = recording("deploy")
      const model = scripted([asks(["deploy"])])
      await using agent = createAgent({
        provider: model.provider,
        tools: [deploy.tool],
        hooks: [gate],
        onAsk: onAsk as never
      })
      const result = await agent.run("go")
      assert.match(
        line(result.messages),
        /tool deploy!: (deploy was denied: its approval failed|the answer to the question is not a decision) \| assistant: the end/
      )
      assert.lengthOf(deploy.ran, 0)
    }
  })

  it("that answers before its question expires decides, and the event says who did", async () => {
    const decided: Array<unknown> = []
    const deploy = recording("deploy")
    await using agent = createAgent({
      provider: scripted([asks(["deploy", {}, "d"])]).provider,
      tools: [deploy.tool],
      hooks: [{ ...gate, preToolCall: () => HookAction.ask("really?", undefined, { expiresInMs: 60_000 }) }],
      onAsk: () => new Promise((resolve) => setTimeout(resolve, 5, { type: "approve", by: "ann" }))
    })
    agent.on((event) => {
      if (event.type === "decided") decided.push({ by: event.by, callId: event.callId, decision: event.decision })
    })
    await agent.run("go")
    assert.deepStrictEqual(decided, [{ by: "ann", callId: "d", decision: "approve" }])
    assert.lengthOf(deploy.ran, 1)
  })

  it("that always edits does not loop forever", async () => {
    let asked = 0
    const ran: Array<unknown> = []
    const deploy = defineTool({
      name: "deploy",
      description: "Deploys",
      input: Schema.Struct({ n: Schema.Finite.pipe(Schema.withDecodingDefaultKey(Effect.succeed(7))) }),
      execute: (args) => {
        ran.push(args)
        return null
      }
    })
    await using agent = createAgent({
      provider: scripted([asks(["deploy", { n: 1 }])]).provider,
      tools: [deploy],
      hooks: [gate],
      onAsk: () => {
        if (++asked > 5) throw new Error("asked without end")
        return { type: "edit", args: {} }
      }
    })
    await agent.run("go")
    assert.strictEqual(asked, 1)
    assert.deepStrictEqual(ran, [{ n: 7 }])
  })
})

describe("a policy that asks", () => {
  const policy = {
    check: () => ({ type: "ask" as const, reason: "leaves the sandbox", grant: { sandbox: "none" as const } })
  }

  it("asks the permission hooks first: allow, deny, or a question of their own", async () => {
    const cases: ReadonlyArray<readonly [AgentHook["onPermission"], RegExp]> = [
      [() => HookAction.replace({ type: "allow" as const }), /completed .*tool deploy: ok/],
      [() => HookAction.replace({ type: "deny" as const, reason: "never" }), /completed .*tool deploy!: never/],
      [() => HookAction.reject("no way"), /completed .*tool deploy!: no way/],
      [() => HookAction.ask("ask the boss"), /suspended .*ask the boss/],
      [() => undefined, /suspended .*leaves the sandbox/]
    ]
    for (const [onPermission, expected] of cases) {
      const deploy = recording("deploy")
      await using agent = createAgent({
        provider: scripted([asks(["deploy"])]).provider,
        tools: [deploy.tool],
        policy,
        hooks: [{ name: "h", onPermission: onPermission! }]
      })
      const result = await agent.run("go")
      const pending = result.status === "suspended" ? result.pending.map(({ reason }) => reason).join() : ""
      assert.match(`${result.status} ${line(result.messages)} ${pending}`, expected)
    }
  })

  it("is answered once for the same arguments, in place and after a resume", async () => {
    let asked = 0
    const grow: AgentHook = {
      name: "grow",
      preToolCall: (call) => HookAction.transform({ ...call, args: { n: (call.args as { readonly n: number }).n + 1 } })
    }
    for (const inPlace of [true, false]) {
      asked = 0
      const deploy = recording("deploy")
      const make = () => ({
        provider: scripted([asks(["deploy", { n: 1 }, "d"])]).provider,
        tools: [deploy.tool],
        hooks: [grow],
        policy: {
          check: ({ args }: { readonly args: unknown }) =>
            (args as { readonly n: number }).n > 1
              ? policy.check()
              : { type: "allow" as const, grant: { sandbox: "none" as const } }
        }
      })
      await using agent = createAgent(
        inPlace
          ? {
            ...make(),
            onAsk: () => {
              if (++asked > 5) throw new Error("asked without end")
              return { type: "approve" }
            }
          }
          : make()
      )
      let result = await agent.run("go")
      for (; result.status === "suspended" && asked < 5; asked++) {
        await using other = createAgent({ ...make(), provider: scripted([]).provider })
        result = await other.resume(result.snapshot, { d: { type: "approve" } })
      }
      assert.strictEqual(asked, 1)
      assert.deepStrictEqual(deploy.ran, [{ n: 2 }])
    }
  })
})
