/** An agent as a tool of another, and the two points around it. */
import { assert, describe, it } from "@effect/vitest"
import { agentTool } from "../../../src/agent/agentTool.ts"
import { createAgent } from "../../../src/agent/createAgent.ts"
import { whyInvalid } from "../../../src/data/Message.ts"
import type { AgentHook } from "../../../src/hook/AgentHook.ts"
import * as HookAction from "../../../src/hook/HookAction.ts"
import { asks, scripted } from "../../support/model.ts"

/** A lead that delegates once, and a researcher that answers; what each saw. */
const team = (hooks: ReadonlyArray<AgentHook>, answer: Parameters<typeof scripted>[0] = ["found it"]) => {
  const inner = scripted(answer, { name: "inner" })
  const researcher = createAgent({ name: "researcher", provider: inner.provider })
  const outer = scripted([asks(["research", { message: "look up the moon" }]), "done"], { name: "outer" })
  const lead = createAgent({
    provider: outer.provider,
    tools: [agentTool({ name: "research", description: "Looks things up", agent: researcher })],
    hooks
  })
  return { inner, lead, outer, researcher }
}

const said = (
  messages: ReadonlyArray<{ readonly role: string; readonly content: unknown; readonly isError?: boolean }>
) => {
  const { content, isError = false } = messages.find(({ role }) => role === "tool")!
  return { content, isError }
}

describe("a delegation", () => {
  it("runs the other agent with the message, and answers with its text; each point fires once", async () => {
    const log: Array<string> = []
    const { inner, lead } = team([{
      name: "watch",
      preDelegation: ({ agent, message, type }) => void log.push(`pre ${agent} ${type} ${message}`),
      postDelegation: ({ executed, result }) => void log.push(`post ${executed} ${result.text}`)
    }])
    const { messages, status } = await lead.run("go")
    assert.strictEqual(status, "completed")
    assert.deepStrictEqual(log, ["pre research delegate look up the moon", "post true found it"])
    assert.deepStrictEqual(said(messages), { content: "found it", isError: false })
    assert.deepStrictEqual(inner.requests[0]!.messages, [{ role: "user", content: "look up the moon" }])
    assert.isUndefined(whyInvalid(messages))
  })

  it("delegates the message, and returns the result, with the changes of the hooks", async () => {
    const { inner, lead } = team([{
      name: "change",
      preDelegation: (delegation) =>
        HookAction.transform({
          ...delegation,
          message: "look up Mars",
          instructions: "Be short.",
          context: [{ role: "user", content: "earlier" }]
        }),
      postDelegation: ({ result }) => HookAction.transform({ text: result.text.toUpperCase() })
    }])
    const { messages } = await lead.run("go")
    assert.deepStrictEqual(inner.requests[0]!.messages, [{ role: "user", content: "earlier" }, {
      role: "user",
      content: "Be short.\n\nlook up Mars"
    }])
    assert.strictEqual(said(messages).content, "FOUND IT")
  })

  it("can be rejected, answered by a hook, or have its result rejected: the model continues each time", async () => {
    const refused = team([{ name: "no", preDelegation: () => HookAction.reject("not today") }])
    assert.deepStrictEqual(said((await refused.lead.run("go")).messages), { content: "not today", isError: true })
    assert.lengthOf(refused.inner.requests, 0)

    const seen: Array<boolean> = []
    const answered = team([{
      name: "cache",
      preDelegation: () => HookAction.respond({ text: "from the cache" }),
      postDelegation: ({ executed }) => void seen.push(executed)
    }])
    assert.deepStrictEqual(said((await answered.lead.run("go")).messages), {
      content: "from the cache",
      isError: false
    })
    assert.lengthOf(answered.inner.requests, 0)
    assert.deepStrictEqual(seen, [false])

    const after = team([{ name: "no", postDelegation: () => HookAction.reject("cannot be trusted") }])
    assert.deepStrictEqual(said((await after.lead.run("go")).messages), { content: "cannot be trusted", isError: true })
  })

  it("is ended with the turn by Abort, on either side", async () => {
    for (const point of ["preDelegation", "postDelegation"] as const) {
      const { lead, outer } = team([{ name: "stop", [point]: () => HookAction.abort("enough") }])
      const result = await lead.run("go")
      assert.strictEqual(result.status, "aborted")
      assert.strictEqual(result.text, "enough")
      assert.lengthOf(outer.requests, 1)
      assert.isUndefined(whyInvalid(result.messages))
    }
  })

  it("runs inside the hooks that wrap tools, and an Abort in it still ends the turn", async () => {
    const log: Array<string> = []
    const wrapping: AgentHook = {
      name: "timing",
      wrapToolCall: async (call, next) => {
        log.push(`before ${call.name}`)
        const result = await next.promise(call)
        log.push(`after ${call.name}`)
        return result
      }
    }
    const { lead } = team([wrapping])
    assert.strictEqual(said((await lead.run("go")).messages).content, "found it")
    assert.deepStrictEqual(log, ["before research", "after research"])

    const stopping = team([wrapping, { name: "stop", preDelegation: () => HookAction.abort("enough") }])
    const result = await stopping.lead.run("go")
    assert.strictEqual(result.status, "aborted")
    assert.strictEqual(result.text, "enough")
    assert.lengthOf(stopping.outer.requests, 1)
  })

  it("that fails is an error the model reads; one that is aborted ends the turn", async () => {
    const failing = team([], [() => {
      throw new Error("no network")
    }])
    assert.deepInclude(said((await failing.lead.run("go")).messages), { isError: true })

    const inner = scripted(["x"])
    const stopped = createAgent({
      provider: inner.provider,
      hooks: [{ name: "stop", preTurn: () => HookAction.abort("closed today") }]
    })
    const lead = createAgent({
      provider: scripted([asks(["ask", { message: "hi" }]), "done"]).provider,
      tools: [agentTool({ name: "ask", description: "Asks", agent: stopped })]
    })
    const result = await lead.run("go")
    assert.strictEqual(result.status, "aborted")
    assert.strictEqual(result.text, "closed today")
    assert.deepStrictEqual(said(result.messages), { content: "ask was aborted: closed today", isError: true })
  })

  it("is cancelled with the turn that delegated", async () => {
    const stop = new AbortController()
    const cancelled = Promise.withResolvers<void>()
    const researcher = createAgent({
      provider: scripted([]).provider,
      hooks: [{
        name: "slow",
        timeout: "none",
        preTurn: (_input, { signal }) =>
          new Promise<void>(() => {
            signal.addEventListener("abort", () => cancelled.resolve())
            stop.abort(new Error("changed my mind"))
          })
      }]
    })
    const lead = createAgent({
      provider: scripted([asks(["research", { message: "look" }])]).provider,
      tools: [agentTool({ name: "research", description: "Looks", agent: researcher })]
    })
    const error: unknown = await lead.run("go", { signal: stop.signal }).catch((caught: unknown) => caught)
    assert.strictEqual((error as Error).message, "changed my mind")
    await cancelled.promise
  })
})
