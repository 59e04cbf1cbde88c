/** Questions that suspend the run, and snapshots that resume it: here, later, in another process. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { createAgent } from "../../../../src/agent/createAgent.ts"
import { type AnyTool, defineTool } from "../../../../src/agent/defineTool.ts"
import type { Decision } from "../../../../src/data/RunState.ts"
import type { RunResult, Suspended } from "../../../../src/guard/RunResult.ts"
import type { AgentHook } from "../../../../src/hook/AgentHook.ts"
import * as HookAction from "../../../../src/hook/HookAction.ts"
import { assertValid, failureOf, line, recording } from "../../../support/agent.ts"
import { asks, type Line, scripted } from "../../../support/model.ts"

const suspendedOf = (result: RunResult): Suspended => {
  assert.strictEqual(result.status, "suspended")
  return result as Suspended
}

const gate: AgentHook = {
  name: "gate",
  kind: "policy",
  tools: "deploy",
  preToolCall: () => HookAction.ask("really?", { risk: "high" })
}

/** Two agents of one make: the second knows of the first's run only what the snapshot says. */
const pair = (
  make: () => { readonly tools: ReadonlyArray<AnyTool>; readonly hooks?: ReadonlyArray<AgentHook> },
  first: ReadonlyArray<Line>,
  second: ReadonlyArray<Line> = []
) => {
  const models = [scripted(first), scripted(second)] as const
  return {
    models,
    one: createAgent({ provider: models[0].provider, ...make() }),
    two: createAgent({ provider: models[1].provider, ...make() })
  }
}

describe("an Ask without onAsk", () => {
  it("suspends the run when the other calls of the step are finished; the snapshot is plain JSON", async () => {
    const look = recording("look", () => Effect.as(Effect.sleep(10), "saw"))
    const deploy = recording("deploy")
    const { one, two } = pair(() => ({ tools: [look.tool, deploy.tool], hooks: [gate] }), [
      asks(["deploy", { to: "prod" }, "d"], ["look", {}, "l"])
    ])
    const result = suspendedOf(await one.run("go"))
    assert.lengthOf(look.ran, 1)
    assert.lengthOf(deploy.ran, 0)
    assert.deepStrictEqual(JSON.parse(JSON.stringify(result.snapshot)), result.snapshot)
    assert.deepStrictEqual(result.pending, [{
      callId: "d",
      tool: "deploy",
      args: { to: "prod" },
      by: "gate",
      reason: "really?",
      details: { risk: "high" },
      fingerprint: result.pending[0]!.fingerprint,
      definition: { description: "Does deploy", hints: "", schema: "{\"type\":\"object\"}" }
    }])
    assertValid(result.messages)

    const ended = await two.resume(JSON.stringify(result.snapshot), { d: { type: "approve" } })
    assert.strictEqual(
      line(ended.messages),
      "user: go | assistant[deploy,look]:  | tool deploy: ok | tool look: saw | assistant: the end"
    )
    assert.lengthOf(look.ran, 1)
    assert.deepStrictEqual(deploy.ran, [{ to: "prod" }])
    assert.strictEqual(ended.toolCalls, 2)
    assert.strictEqual(ended.steps, 2)
    assert.strictEqual(ended.sessionId, result.sessionId)
  })

  const decisions: ReadonlyArray<readonly [Decision, RegExp, ReadonlyArray<unknown>]> = [
    [{ type: "approve" }, /tool deploy: ok/, [{ to: "prod" }]],
    [{ type: "deny", reason: "not on Fridays" }, /tool deploy!: not on Fridays/, []],
    [{ type: "edit", args: { to: "test" } }, /tool deploy: ok/, [{ to: "test" }]],
    [{ type: "respond", output: { done: "by hand" } }, /tool deploy: {"done":"by hand"}/, []]
  ]
  for (const [decision, text, ran] of decisions) {
    it(`does what a person says: ${decision.type}`, async () => {
      const told: Array<string> = []
      const deploy = recording("deploy")
      const watcher: AgentHook = {
        name: "watcher",
        onToolDenied: ({ by, reason }) => void told.push(`denied by ${by}: ${reason}`),
        postToolCall: ({ executed, result }) => void told.push(`${executed} ${result.ok}`)
      }
      const { one, two } = pair(() => ({ tools: [deploy.tool], hooks: [gate, watcher] }), [
        asks(["deploy", { to: "prod" }, "d"])
      ])
      const { snapshot } = suspendedOf(await one.run("go"))
      const ended = await two.resume(snapshot, { d: decision })
      assert.strictEqual(ended.status, "completed")
      assert.match(line(ended.messages), text)
      assert.deepStrictEqual(deploy.ran, ran)
      const expected = {
        approve: "true true",
        edit: "true true",
        respond: "false true",
        deny: "denied by person: not on Fridays",
        delegate: ""
      }
      assert.deepStrictEqual(told, [expected[decision.type]])
    })
  }

  it("asks again about undecided calls, and keeps the decisions on the others", async () => {
    const deploy = recording("deploy")
    const { one, two } = pair(() => ({ tools: [deploy.tool], hooks: [gate] }), [
      asks(["deploy", { n: 1 }, "a"], ["deploy", { n: 2 }, "b"])
    ])
    const first = suspendedOf(await one.run("go"))
    assert.deepStrictEqual(first.pending.map(({ callId }) => callId), ["a", "b"])
    const second = suspendedOf(await one.resume(first.snapshot, { b: { type: "approve" } }))
    assert.deepStrictEqual(second.pending.map(({ callId }) => callId), ["a"])
    assert.deepStrictEqual(deploy.ran, [{ n: 2 }])
    const third = suspendedOf(await two.resume(second.snapshot))
    assert.deepStrictEqual(third.pending.map(({ callId }) => callId), ["a"])
    const ended = await two.resume(third.snapshot, { a: { type: "deny", reason: "no" } })
    assert.deepStrictEqual(deploy.ran, [{ n: 2 }])
    assert.include(line(ended.messages), "tool deploy!: no | tool deploy: ok")
  })

  it("runs every hook once before the question, and none of them again after the answer", async () => {
    const log: Array<string> = []
    const note = (name: string, priority: number, asking = false): AgentHook => ({
      name,
      priority,
      preToolCall: () => {
        log.push(name)
        return asking ? HookAction.ask(`${name}?`) : undefined
      }
    })
    const deploy = recording("deploy")
    const make = () => ({
      tools: [deploy.tool],
      hooks: [note("a", 1), note("b", 2, true), note("c", 3), note("d", 4, true)]
    })
    const { one, two } = pair(make, [asks(["deploy", {}, "x"])])
    const first = suspendedOf(await one.run("go"))
    assert.deepStrictEqual(log.splice(0), ["a", "b", "c", "d"])
    assert.deepStrictEqual(first.pending.map(({ by, reason, reasons }) => ({ by, reason, reasons })), [{
      by: "b",
      reason: "b?; d?",
      reasons: [{ by: "b", reason: "b?" }, { by: "d", reason: "d?" }]
    }])
    const ended = await two.resume(first.snapshot, { x: { type: "approve" } })
    assert.deepStrictEqual([ended.status, log, deploy.ran.length], ["completed", [], 1])
  })

  it("validates, checks and guards edited arguments again", async () => {
    const ran: Array<string> = []
    const deploy = defineTool({
      name: "deploy",
      description: "Deploys",
      input: Schema.Struct({
        to: Schema.String,
        tag: Schema.String.pipe(Schema.withDecodingDefaultKey(Effect.succeed("latest")))
      }),
      execute: ({ tag, to }) => {
        ran.push(`${to} ${tag}`)
        return "ok"
      }
    })
    const guard: AgentHook = {
      name: "guard",
      priority: 200,
      preToolCall: ({ args }) => (args as { to: string }).to === "mars" ? HookAction.reject("too far") : undefined
    }
    const make = () => ({
      tools: [deploy],
      hooks: [gate, guard],
      policy: {
        check: ({ args }: { readonly args: unknown }) =>
          (args as { to: string }).to === "root"
            ? { type: "deny" as const, reason: "policy says no" }
            : { type: "allow" as const, grant: { sandbox: "none" } }
      }
    })
    const cases = [[{ to: 3 }, /do not fit the tool's schema/], [{ to: "root" }, /policy says no/], [
      { to: "mars" },
      /too far/
    ], [{
      to: "test"
    }, /tool deploy: ok/]] as const
    for (const [args, text] of cases) {
      const { one, two } = pair(make, [asks(["deploy", { to: "prod" }, "d"])])
      const { snapshot } = suspendedOf(await one.run("go"))
      const ended = await two.resume(snapshot, { d: { type: "edit", args } })
      assert.strictEqual(ended.status, "completed")
      assert.match(line(ended.messages), text)
    }
    assert.deepStrictEqual(ran, ["test latest"])
  })
})

describe("a snapshot that cannot be resumed", () => {
  it("is refused with what is wrong; nothing runs and nothing is changed", async () => {
    const deploy = recording("deploy")
    const { one, two } = pair(() => ({ tools: [deploy.tool], hooks: [gate] }), [
      asks(["deploy", {}, "constructor"]),
      "done"
    ])
    const session = await one.session()
    const { snapshot } = suspendedOf(await session.run("go"))
    const before = line(session.messages)
    const refused = async (what: Promise<unknown>) => {
      const error = await failureOf(what)
      assert.strictEqual(error["_tag"], "SnapshotError")
      assert.strictEqual(line(session.messages), before)
      assert.lengthOf(deploy.ran, 0)
      return error["problem"]
    }
    for (const broken of ["", "{", "nonsense", `{"version":`]) {
      assert.strictEqual(await refused(two.resume(broken)), "not-json")
    }
    for (
      const broken of [undefined, null, 3, [], {}, "null", { ...snapshot, calls: "x" }, { ...snapshot, version: 0 }, {
        ...snapshot,
        coreType: "other"
      }]
    ) {
      assert.strictEqual(await refused(two.resume(broken)), "not-a-snapshot")
    }
    assert.strictEqual(await refused(two.resume({ ...snapshot, version: snapshot.version + 1 })), "newer-version")
    assert.strictEqual(await refused(two.resume({ ...snapshot, phase: "ended" })), "finished")
    assert.strictEqual(await refused(one.resume(snapshot, { nobody: { type: "approve" } })), "wrong-decision")
    for (const decision of [undefined, null, "approve", { type: "aprove" }, { type: "deny" }, { type: "edit" }]) {
      assert.strictEqual(await refused(one.resume(snapshot, { constructor: decision } as never)), "wrong-decision")
    }
    const again = suspendedOf(await one.resume(snapshot, {}))
    assert.lengthOf(again.pending, 1)
    assert.strictEqual(
      (await one.resume(again.snapshot, { constructor: { type: "approve" } } as never)).status,
      "completed"
    )
    assert.lengthOf(deploy.ran, 1)
    const error = await failureOf(one.resume(again.snapshot, { constructor: { type: "approve" } } as never))
    assert.strictEqual(error["problem"], "finished")
    assert.lengthOf(deploy.ran, 1)
  })

  it("is stale when the session has continued; the call in question is closed", async () => {
    const deploy = recording("deploy")
    const { one } = pair(() => ({ tools: [deploy.tool], hooks: [gate] }), [asks(["deploy", {}, "d"]), "done"])
    const session = await one.session()
    const { snapshot } = suspendedOf(await session.run("go"))
    const result = await session.run("never mind")
    assert.strictEqual(
      line(result.messages),
      "user: go | assistant[deploy]:  | tool deploy!: not run: nobody decided before the next turn | user: never mind | assistant: done"
    )
    assert.strictEqual((await failureOf(one.resume(snapshot, { d: { type: "approve" } })))["problem"], "finished")
    assert.lengthOf(deploy.ran, 0)
  })

  it("keeps ids unique when the model uses one again after a resume elsewhere", async () => {
    const deploy = recording("deploy")
    const look = recording("look")
    const { one, two } = pair(() => ({ tools: [deploy.tool, look.tool], hooks: [gate] }), [asks(["deploy", {}, "c"])], [
      asks(["look", {}, "c"]),
      "done"
    ])
    const { snapshot } = suspendedOf(await one.run("go"))
    const ended = await two.resume(snapshot, { c: { type: "approve" } })
    assertValid(ended.messages)
    assert.lengthOf(look.ran, 1)
  })
})
