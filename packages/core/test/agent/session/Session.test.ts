/** Sessions: how they begin and end, follow-ups, signals of the host, wrappers around acts. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { createAgent } from "../../../src/agent/createAgent.ts"
import * as ProviderError from "../../../src/data/ProviderError.ts"
import { failure, success } from "../../../src/data/tool/Tool.ts"
import type { AgentHook } from "../../../src/hook/AgentHook.ts"
import * as HookAction from "../../../src/hook/HookAction.ts"
import { assertValid, failureOf, line, recording } from "../../support/agent.ts"
import { asks, scripted } from "../../support/model.ts"

describe("a session", () => {
  it("starts once, before its first turn, with the messages that hooks provide", async () => {
    let starts = 0
    const model = scripted([])
    await using agent = createAgent({
      provider: model.provider,
      hooks: [{
        name: "h",
        onSessionStart: (start) => {
          starts++
          return HookAction.transform({
            ...start,
            context: [...start.context, { role: "user" as const, content: "you are in Berlin", source: "h" }]
          })
        }
      }]
    })
    const session = await agent.session()
    assert.strictEqual(starts, 0)
    await session.run("one")
    await session.run("two")
    assert.strictEqual(starts, 1)
    assert.strictEqual(
      line(session.messages),
      "user (h): you are in Berlin | user: one | assistant: the end | user: two | assistant: the end"
    )
  })

  it("does not start when a hook rejects it; the next turn tries again", async () => {
    let starts = 0
    const ends: Array<string> = []
    await using agent = createAgent({
      provider: scripted([]).provider,
      hooks: [{
        name: "licence",
        onSessionStart: () => ++starts === 1 ? HookAction.reject("no licence") : undefined,
        onSessionEnd: ({ reason }) => void ends.push(reason)
      }]
    })
    const session = await agent.session()
    const error = await failureOf(session.run("go"))
    assert.strictEqual(error["_tag"], "HookRejected")
    assert.strictEqual(error["point"], "onSessionStart")
    assert.strictEqual((await session.run("go")).status, "completed")
    assert.strictEqual(starts, 2)
    await session.close()
    await session.close()
    assert.deepStrictEqual(ends, ["error", "done"])
    assert.strictEqual((await failureOf(session.run("go")))["problem"], "closed")
  })

  it("of one turn ends with that turn, for the reason done, abort or error", async () => {
    const ends: Array<string> = []
    const hook: AgentHook = {
      name: "h",
      preTurn: ({ message }) =>
        message === "abort"
          ? HookAction.abort("enough")
          : message === "reject"
          ? HookAction.reject("no")
          : message === "hang"
          ? Effect.never
          : undefined,
      onSessionEnd: ({ reason }) => void ends.push(reason)
    }
    await using agent = createAgent({ provider: scripted([]).provider, hooks: [hook] })
    await agent.run("go")
    await agent.run("abort")
    await failureOf(agent.run("reject"))
    for await (const _ of agent.stream("go")) { /* only the end counts */ }
    await failureOf(agent.stream("reject").result)
    const controller = new AbortController()
    const running = failureOf(agent.stream("hang", { signal: controller.signal }).result)
    controller.abort()
    await running
    assert.deepStrictEqual(ends, ["done", "abort", "error", "done", "error", "abort"])
  })

  it("of one turn that was suspended ends with the resume that finishes it", async () => {
    const ends: Array<string> = []
    const model = scripted([], { after: ({ messages }) => messages.length === 1 ? asks(["deploy", {}, "d"]) : "done" })
    await using agent = createAgent({
      provider: model.provider,
      tools: [recording("deploy").tool],
      hooks: [{
        name: "h",
        preToolCall: () => HookAction.ask("?"),
        onSessionEnd: ({ reason }) => void ends.push(reason)
      }]
    })
    for (const start of [() => agent.run("go"), () => agent.stream("go").result]) {
      const first = await start()
      assert.strictEqual(first.status, "suspended")
      assert.lengthOf(ends, 0)
      if (first.status === "suspended") await agent.resume(first.snapshot, { d: { type: "approve" } })
      assert.deepStrictEqual(ends.splice(0), ["done"])
    }
    const session = await agent.session()
    const first = await session.run("go")
    if (first.status === "suspended") await agent.resume(first.snapshot, { d: { type: "approve" } })
    assert.lengthOf(ends, 0)
    assert.strictEqual((await session.run("more")).status, "completed")
  })

  it("runs one turn at a time, and fails a second one as busy", async () => {
    const model = scripted([], { pause: Effect.yieldNow })
    await using agent = createAgent({ provider: model.provider })
    const session = await agent.session()
    const first = session.run("one")
    assert.strictEqual((await failureOf(session.run("two")))["problem"], "busy")
    assert.strictEqual((await first).status, "completed")
    assert.strictEqual((await session.run("three")).status, "completed")
    assertValid(session.messages)
  })

  it("is found by its id while it is open; invalid ids are rejected", async () => {
    await using agent = createAgent({ provider: scripted([]).provider })
    const one = await agent.session({ id: "a.b-c_1" })
    await one.run("go")
    const same = await agent.session({ id: "a.b-c_1" })
    assert.strictEqual(line(same.messages), line(one.messages))
    await one.close()
    const fresh = await agent.session({ id: "a.b-c_1" })
    assert.lengthOf(fresh.messages, 0)
    for (const id of ["", "../x", ".hidden", "a/b", "x".repeat(129), "a\u0000b", "ä"]) {
      assert.strictEqual((await failureOf(agent.session({ id })))["_tag"], "SessionError")
    }
  })

  it("passes signals of the host to hooks; Reject blocks a signal that is blockable", async () => {
    const seen: Array<string> = []
    await using agent = createAgent({
      provider: scripted([]).provider,
      hooks: [{
        name: "h",
        onSignal: ({ name, payload }) => {
          seen.push(`${name} ${JSON.stringify(payload)}`)
          if (name === "worktree-create") return HookAction.respond({ path: "/srv/tree" })
          return name === "cwd-changed" ? HookAction.reject("stay here") : undefined
        }
      }]
    })
    const session = await agent.session()
    assert.deepStrictEqual(await session.signal({ name: "file-changed", payload: ["a.ts"], blockable: false }), {
      allowed: true
    })
    assert.deepStrictEqual(await session.signal({ name: "cwd-changed", payload: "/", blockable: true }), {
      allowed: false,
      reason: "stay here"
    })
    assert.deepStrictEqual(await session.signal({ name: "cwd-changed", payload: "/", blockable: false }), {
      allowed: true
    })
    assert.deepStrictEqual(await session.signal({ name: "worktree-create", payload: "x", blockable: true }), {
      allowed: true,
      answer: { path: "/srv/tree" }
    })
    assert.deepStrictEqual(seen, [`file-changed ["a.ts"]`, `cwd-changed "/"`, `cwd-changed "/"`, `worktree-create "x"`])
  })

  it("runs onBudget at 70 and 80 per cent of the window, once for each", async () => {
    const levels: Array<string> = []
    const model = scripted(
      [100, 710, 720, 850, 860].map((inputTokens) => ({ ...asks(["look"]), usage: { inputTokens, outputTokens: 0 } }))
    )
    await using agent = createAgent({
      provider: model.provider,
      tools: [recording("look", () => "").tool],
      window: { tokens: 1_000, compactAt: 2 },
      hooks: [{ name: "h", onBudget: ({ kind, level, limit }) => void levels.push(`${kind} ${level} ${limit}`) }]
    })
    await agent.run("go")
    assert.deepStrictEqual(levels, ["tokens warn 1000", "tokens exceeded 1000"])
  })
})

describe("preStop", () => {
  it("keeps the agent going with the follow-ups of its hooks, in one message", async () => {
    const counts: Array<string> = []
    const model = scripted(["one", "two", "three"])
    const nag = (name: string, until: number): AgentHook => ({
      name,
      preStop: ({ followUps, text }, ctx) => {
        counts.push(`${name} ${followUps} ${text}`)
        if (followUps < until) ctx.followUp(`${name} says more`)
      }
    })
    await using agent = createAgent({ provider: model.provider, hooks: [nag("a", 2), nag("b", 1)] })
    const result = await agent.run("go")
    assert.strictEqual(result.text, "three")
    assert.strictEqual(
      line(result.messages),
      "user: go | assistant: one | user (follow-up): a says more\n\nb says more | assistant: two | user (follow-up): a says more | assistant: three"
    )
    assert.deepStrictEqual(counts, ["a 0 one", "b 0 one", "a 1 two", "b 1 two", "a 2 three", "b 2 three"])
  })
})

describe("wrapToolCall and wrapLlmCall", () => {
  const wrapped = async (hook: Partial<AgentHook>, execute: () => unknown = () => "ok") => {
    const look = recording("look", execute)
    const model = scripted([asks(["look", { n: 1 }]), "done"])
    await using agent = createAgent({ provider: model.provider, tools: [look.tool], hooks: [{ name: "w", ...hook }] })
    const result = await agent.run("go").catch((error: unknown) => error as { readonly _tag: string })
    const text = "messages" in result ? line(result.messages) : result._tag
    return { ran: look.ran, requests: model.requests, result, text }
  }

  it("wrap the call, the lowest priority outermost, with promises and with Effects", async () => {
    const log: Array<string> = []
    const surround = (name: string, priority: number, effect: boolean): AgentHook => ({
      name,
      priority,
      wrapToolCall: effect
        ? (call, next) =>
          Effect.tap(
            Effect.andThen(Effect.sync(() => void log.push(`${name} in`)), next(call)),
            () => Effect.sync(() => void log.push(`${name} out`))
          )
        : async (call, next) => {
          log.push(`${name} in`)
          const result = await next.promise(call)
          log.push(`${name} out`)
          return result
        },
      wrapLlmCall: (request, next) => Effect.tap(next(request), () => Effect.sync(() => void log.push(`${name} llm`)))
    })
    const look = recording("look", () => void log.push("look"))
    const model = scripted([asks(["look"]), "done"])
    await using agent = createAgent({
      provider: model.provider,
      tools: [look.tool],
      hooks: [surround("b", 2, true), surround("a", 1, false)]
    })
    await agent.run("go")
    assert.deepStrictEqual(log, ["b llm", "a llm", "a in", "b in", "look", "b out", "a out", "b llm", "a llm"])
  })

  it("can answer from a cache, and can retry", async () => {
    const cached = await wrapped({ wrapToolCall: async () => success("cached") })
    assert.lengthOf(cached.ran, 0)
    assert.include(cached.text, "tool look: cached")
    let tries = 0
    const again = await wrapped({
      wrapToolCall: (call, next) =>
        Effect.gen(function*() {
          const result = yield* next(call)
          return result.ok ? result : yield* next(call)
        })
    }, () => {
      if (++tries === 1) throw new Error("flaky")
      return "worked"
    })
    assert.lengthOf(again.ran, 2)
    assert.include(again.text, "tool look: worked")
  })

  it("start the call again at every retry, with the original arguments even if the tool changed them", async () => {
    const log: Array<string> = []
    const look = recording("look", (args) => {
      log.push(`look ${JSON.stringify(args)}`)
      Object.assign(args, { n: 9 })
    })
    await using agent = createAgent({
      provider: scripted([asks(["look", { n: 1 }]), "done"]).provider,
      tools: [look.tool],
      hooks: [{
        name: "w",
        wrapToolCall: async (call, next) => {
          log.push("wrapper")
          await next.promise(call)
          return next.promise(call)
        }
      }]
    })
    await agent.run("go")
    assert.deepStrictEqual(log, ["wrapper", `look {"n":1}`, `look {"n":1}`])
  })

  it("continue without a fail-open wrapper that fails, and never run the act a second time", async () => {
    const breaks: ReadonlyArray<readonly [NonNullable<AgentHook["wrapToolCall"]>, RegExp]> = [
      [() => {
        throw new Error("before")
      }, /tool look: ok/],
      [async () => {
        throw new Error("before")
      }, /tool look: ok/],
      [async (call, next) => {
        await next.promise(call)
        throw new Error("after")
      }, /tool look: ok/],
      [async (call, next) => {
        void next.promise(call)
        throw new Error("meanwhile")
      }, /tool look: ok/],
      [
        (call, next) => Effect.timeout(next(call), 1),
        /tool look: ok|tool look!: hook w failed at wrapToolCall: it interrupted the act/
      ],
      [(() => undefined) as never, /tool look: ok/],
      [(async () => "nonsense") as never, /tool look: ok/]
    ]
    for (const [wrapToolCall, expected] of breaks) {
      const { ran, text } = await wrapped({ wrapToolCall }, async () => {
        await new Promise((resolve) => setTimeout(resolve, 10))
        return "ok"
      })
      assert.match(text, expected)
      assert.lengthOf(ran, 1)
    }
  })

  it("fail the call if they are fail-closed and fail", async () => {
    const broken = () => {
      throw new Error("ill")
    }
    const tool = await wrapped({ failOpen: false, wrapToolCall: broken })
    assert.lengthOf(tool.ran, 0)
    assert.include(tool.text, "tool look!: hook w failed at wrapToolCall: ill")
    assert.strictEqual((await wrapped({ kind: "policy", wrapLlmCall: broken })).text, "InvalidRequest")
  })

  it("that break are handled by onFailure: open, reject or abort", async () => {
    const broken = () => {
      throw new Error("ill")
    }
    const open = await wrapped({ kind: "policy", onFailure: "open", wrapToolCall: broken, wrapLlmCall: broken })
    assert.include(open.text, "tool look: ok")
    const rejecting = await wrapped({ onFailure: "reject", wrapToolCall: broken })
    assert.include(rejecting.text, "tool look!: hook w failed at wrapToolCall: ill")
    for (const method of ["wrapToolCall", "wrapLlmCall"]) {
      const { ran, result } = await wrapped({ onFailure: "abort", [method]: broken })
      assert.lengthOf(ran, 0)
      assert.deepInclude(result, { status: "aborted", by: "w", reason: `hook w failed at ${method}: ill` })
    }
  })

  it("may fail with an error of the provider, as a circuit breaker does", async () => {
    const breaker = await wrapped({
      wrapLlmCall: () => Effect.fail(new ProviderError.Auth({ provider: "w", message: "open" }))
    })
    assert.strictEqual(breaker.text, "Auth")
    assert.lengthOf(breaker.requests, 0)
  })

  it("cannot change what was checked: another call than the approved one does not run", async () => {
    const changes: ReadonlyArray<NonNullable<AgentHook["wrapToolCall"]>> = [
      (call, next) => next({ ...call, args: { n: 2 } }),
      (call, next) => next({ ...call, name: "other" }),
      (call, next) => next({ ...call, id: "other" })
    ]
    for (const wrapToolCall of changes) {
      const { ran, text } = await wrapped({ wrapToolCall })
      assert.lengthOf(ran, 0)
      assert.include(text, "tool look!: a hook changed the call in wrapToolCall")
    }
    const same = await wrapped({ wrapToolCall: (call, next) => next({ ...call, args: { n: 1 } }) })
    assert.deepStrictEqual(same.ran, [{ n: 1 }])
  })

  it("receive failures of tools as results, and may change them", async () => {
    const { text } = await wrapped({
      wrapToolCall: (call, next) => Effect.map(next(call), (result) => result.ok ? failure("no") : success("turned"))
    }, () => {
      throw new Error("bad")
    })
    assert.include(text, "tool look: turned")
  })
})
