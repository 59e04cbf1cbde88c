/** What a session store is given, and what happens when it breaks. */
import { random } from "@belay/testing/SeededRandom"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { createAgent } from "../../../src/agent/createAgent.ts"
import { whyInvalid } from "../../../src/data/Message.ts"
import { Auth } from "../../../src/data/ProviderError.ts"
import * as RunState from "../../../src/data/RunState.ts"
import * as HookAction from "../../../src/hook/HookAction.ts"
import * as HookState from "../../../src/hook/HookState.ts"
import * as SessionStore from "../../../src/port/SessionStore.ts"
import { assertValid, failureOf, line, recording } from "../../support/agent.ts"
import { asks, scripted } from "../../support/model.ts"

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

describe("the session store", () => {
  it("never goes back to an older state, even if it is slow and tools overlap", async () => {
    for (let seed = 0; seed < 20; seed++) {
      const { below } = random(seed)
      const done: Array<number> = []
      let writing = 0
      const store: SessionStore.SessionStore = {
        commit: ({ state }) =>
          Effect.promise(async () => {
            assert.strictEqual(++writing, 1)
            await sleep(below(4))
            done.push(state.stepNumber * 100 + state.calls.filter(({ status }) => status === "done").length)
            writing--
          }),
        load: () => Effect.undefined
      }
      const look = recording("look", async () => {
        await sleep(below(6))
        return "ok"
      })
      const model = scripted([asks(["look"], ["look"], ["look"], ["look"]), asks(["look"], ["look"])])
      await using agent = createAgent({ provider: model.provider, tools: [look.tool], store })
      await agent.run("go")
      const steps = done.slice(0, -1)
      assert.deepStrictEqual(steps, steps.toSorted((a, b) => a - b), `seed ${seed}`)
      // The first of each step, and at least one before and after its tools. Tools that are ready together share one.
      assert.isAtLeast(done.length, 6)
    }
  })

  it("receives states that are JSON, valid for a provider, and lead to the same result from every point", async () => {
    const states: Array<string> = []
    const count = HookState.key("count", 0)
    const memory = SessionStore.inMemory()
    const store: SessionStore.SessionStore = {
      commit: (commit) => {
        const state = commit.snapshot()
        states.push(RunState.encode(state))
        assert.deepStrictEqual(JSON.parse(states.at(-1)!), JSON.parse(JSON.stringify(state)))
        assert.strictEqual(whyInvalid(state.messages), undefined)
        return memory.commit(commit)
      },
      load: memory.load
    }
    const make = () => {
      const look = recording("look", ({ n }) => `saw ${JSON.stringify(n)}`, { idempotent: true })
      const model = scripted([], {
        after: ({ messages }) => {
          const seen = messages.filter(({ role }) => role === "tool").length
          return seen === 0
            ? asks(["look", { n: 1 }, "a"], ["look", { n: 2 }, "b"])
            : seen === 2
            ? asks(["look", { n: 3 }, "c"])
            : "done"
        }
      })
      return {
        provider: model.provider,
        tools: [look.tool],
        hooks: [{
          name: "h",
          preToolCall: (_: unknown, ctx: { readonly state: Pick<HookState.HookState, "update"> }) => {
            ctx.state.update(count, (n) => n + 1)
            return undefined
          }
        }]
      }
    }
    await using agent = createAgent({ ...make(), store })
    const session = await agent.session({ id: "s" })
    const expected = line((await session.run("go")).messages)
    assert.isAbove(states.length, 6)
    for (const state of states) {
      const { phase } = JSON.parse(state) as RunState.RunState
      await using other = createAgent(make())
      if (phase === "ended") assert.strictEqual((await failureOf(other.resume(state)))["problem"], "finished")
      else {
        const result = await other.resume(state)
        assert.strictEqual(line(result.messages), expected)
        assertValid(result.messages)
      }
    }
    const kept = await Effect.runPromise(memory.load("s"))
    assert.strictEqual(kept?.phase, "ended")
    assert.deepStrictEqual(kept?.hookState, { count: 3 })
    assert.isUndefined(await Effect.runPromise(memory.load("nobody")))
  })

  it("that breaks ends the turn with a PortFailed; the conversation stays valid", async () => {
    const broken: ReadonlyArray<SessionStore.SessionStore["commit"]> = [
      () => Effect.fail("disk full"),
      () => Effect.die(new Error("disk full")),
      () => {
        throw new Error("disk full")
      }
    ]
    for (const commit of broken) {
      for (const from of [1, 2, 3, 4]) {
        let saves = 0
        const store: SessionStore.SessionStore = {
          commit: (step) => ++saves >= from ? commit(step) : Effect.void,
          load: () => Effect.undefined
        }
        const model = scripted([asks(["look"], ["look"])])
        await using agent = createAgent({ provider: model.provider, tools: [recording("look").tool], store })
        const session = await agent.session()
        const error = await failureOf(session.run("go"))
        assert.deepStrictEqual([error["_tag"], error["port"]], ["PortFailed", "store"])
        assert.match(String(error["message"]), /the session store could not save .+: disk full/)
        assertValid(session.messages)
      }
    }
  })

  it("has the arguments with which a tool runs before it runs, if a hook changed them", async () => {
    const store = SessionStore.inMemory()
    const executed: Array<unknown> = []
    const { tool } = recording("act", async () => {
      const state = await Effect.runPromise(store.load("s"))
      executed.push(state?.calls[0]?.executedArgs)
    })
    for (const changes of [true, false]) {
      await using agent = createAgent({
        provider: scripted([asks(["act", { n: 1 }])]).provider,
        tools: [tool],
        store,
        hooks: [{
          name: "h",
          preToolCall: (call) => changes ? HookAction.transform({ ...call, args: { n: 2 } }) : undefined
        }]
      })
      await (await agent.session({ id: "s" })).run("go")
    }
    assert.deepStrictEqual(executed, [{ n: 2 }, undefined])
  })

  it("has the end of a turn that failed or was cancelled, so that the next process does not wait for it", async () => {
    for (const isCancelled of [false, true]) {
      const store = SessionStore.inMemory()
      const controller = new AbortController()
      await using agent = createAgent({
        provider: scripted([
          () => {
            controller.abort()
            return isCancelled ? Effect.never : new Auth({ provider: "one", message: "no key" })
          }
        ]).provider,
        store
      })
      const session = await agent.session({ id: "s" })
      await failureOf(session.run("go", isCancelled ? { signal: controller.signal } : {}))
      const [info] = await Effect.runPromise(store.list())
      assert.deepInclude(info, { id: "s", status: "idle" })
      assert.strictEqual((await Effect.runPromise(store.load("s")))?.phase, "ended")
    }
  })

  it("whose session another process took during a failed turn leaves a gap before the number of the end", async () => {
    const memory = SessionStore.inMemory()
    const stepBeforeEnd = async (isTaken: boolean) => {
      const seen: Array<number> = []
      const store: SessionStore.SessionStore = {
        ...memory,
        commit: (step) =>
          isTaken && step.state.phase === "ended"
            ? Effect.fail(SessionStore.conflict(step.sessionId, step.revision, 9))
            : memory.commit(step)
      }
      const error = new Auth({ provider: "one", message: "no key" })
      await using agent = createAgent({ provider: scripted([error]).provider, store })
      agent.on((event) => {
        if (!["warning", "session-end"].includes(event.type)) seen.push(event.seq)
      })
      await failureOf((await agent.session({ id: isTaken ? "taken" : "free" })).run("go"))
      return seen.at(-1)! - seen.at(-2)!
    }
    assert.strictEqual(await stepBeforeEnd(false), 1)
    // A warning has a number too.
    assert.isAbove(await stepBeforeEnd(true), 2)
  })

  it("that cannot load a session fails the opening, and says which session", async () => {
    const store = { ...SessionStore.inMemory(), load: () => Effect.fail("no disk") }
    await using agent = createAgent({ provider: scripted([]).provider, store })
    assert.deepInclude(await failureOf(agent.session({ id: "s" })), {
      _tag: "PortFailed",
      port: "store",
      message: "the session store could not load s: no disk"
    })
  })

  it("opens a new session once, although two callers ask for it while the store looks for it", async () => {
    const memory = SessionStore.inMemory()
    await using agent = createAgent({
      provider: scripted([]).provider,
      store: { ...memory, load: (id) => Effect.delay(memory.load(id), 5) }
    })
    const [one, two] = await Promise.all([agent.session({ id: "s" }), agent.session({ id: "s" })])
    await one.run("first")
    await two.run("second")
    assert.strictEqual(
      line(one.messages),
      "user: first | assistant: the end | user: second | assistant: the end"
    )
    assert.strictEqual(line(two.messages), line(one.messages))
  })

  it("has the decision of a person before the tool runs", async () => {
    const seen: Array<string> = []
    const store: SessionStore.SessionStore = {
      commit: ({ state }) =>
        Effect.sync(() =>
          void seen.push(state.calls.map(({ decision, status }) => `${status} ${decision?.type ?? "-"}`).join())
        ),
      load: () => Effect.undefined
    }
    const model = scripted([asks(["deploy", {}, "d"])])
    const deploy = recording("deploy", () => void seen.push("runs"))
    await using agent = createAgent({
      provider: model.provider,
      tools: [deploy.tool],
      store,
      hooks: [{ name: "gate", preToolCall: () => HookAction.ask("?") }]
    })
    const first = await agent.run("go")
    assert.strictEqual(first.status, "suspended")
    if (first.status === "suspended") await agent.resume(first.snapshot, { d: { type: "approve" } })
    const runs = seen.indexOf("runs")
    assert.strictEqual(seen[runs - 1], "started approve")
    assert.strictEqual(seen[runs + 1], "done approve")
    assert.isTrue(seen.slice(0, runs).includes("asked -"))
  })
})
