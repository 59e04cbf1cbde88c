import { ConfigError } from "@belay/core/AgentError"
import type { AgentEvent } from "@belay/core/AgentEvent"
import * as AgentRuntime from "@belay/core/AgentRuntime"
import { createAgent } from "@belay/core/createAgent"
import { defineTool } from "@belay/core/defineTool"
import * as HookAction from "@belay/core/HookAction"
import * as HookChain from "@belay/core/HookChain"
import * as HookState from "@belay/core/HookState"
import * as SessionMemory from "@belay/hooks/SessionMemory"
import * as Scripted from "@belay/testing/Scripted"
import * as TestScope from "@belay/testing/TestScope"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

const keys = ["account:acme", "repo:acme/app", "branch:acme/app/main"]
type Kind = SessionMemory.Note["kind"]
type Written = readonly [kind: Kind, text: string]

/** One session of a chain: what it begins with, and what it leaves. */
const session = (
  options: SessionMemory.Options,
  written: ReadonlyArray<Written> = [],
  reason: "done" | "rotate" | "error" | "abort" = "done"
) =>
  Effect.gen(function*() {
    const chain = HookChain.makeUnsafe([SessionMemory.make(options)])
    const scope = TestScope.make()
    const start = { sessionId: "session-1", source: "startup", context: [] } as const
    const { event } = yield* chain.run("onSessionStart", start, scope)
    for (const [kind, text] of written) SessionMemory.note(scope, { kind, text })
    yield* chain.run("onSessionEnd", { sessionId: "session-1", reason }, scope)
    assert.deepEqual(scope.failures, [])
    return String(event.context[0]?.content as string | undefined)
  })

const asks = (kind: Kind, text: string) => Scripted.toolCalls({ name: "remember", args: { kind, text } })

describe("SessionMemory", () => {
  for (const reason of ["done", "rotate", "error", "abort"] as const) {
    // rows: B-03, B-02
    it.effect(`stores the notes of a session that ends with ${reason}, and recalls them in the next one`, () =>
      Effect.gen(function*() {
        const store = SessionMemory.memory()
        const first = yield* session({ keys, store }, [["fact", "tests need node 24"], [
          "blocker",
          "no access to staging"
        ], [
          "note",
          "prefer small commits"
        ]], reason)
        assert.strictEqual(first, "undefined")
        assert.strictEqual(
          yield* session({ keys, store, framing: (text) => text }),
          "Blockers:\n- no access to staging\nFacts:\n- tests need node 24\nNotes:\n- prefer small commits"
        )
        assert.match(
          yield* session({ keys, store }),
          /^This is remembered from earlier sessions\. It may be out of date/
        )
      }))
  }

  it.effect("recalls every key, stores under the last key or the chosen one, and adds the text of `recall`", () =>
    Effect.gen(function*() {
      const store = SessionMemory.memory()
      const keyFor = ({ kind }: SessionMemory.Note, all: ReadonlyArray<string>) => all[kind === "fact" ? 1 : 2]!
      yield* session({ keys, store, keyFor }, [["fact", "of the repo"], ["blocker", "of the branch"]])
      const recall = (asked: ReadonlyArray<string>) => Promise.resolve(`recalled for ${asked.join(", ")}`)
      const other = yield* session({
        keys: () => Effect.succeed(["repo:acme/app", "branch:acme/app/next"]),
        store,
        recall,
        framing: (text) => text
      })
      assert.strictEqual(other, "Facts:\n- of the repo\n\nrecalled for repo:acme/app, branch:acme/app/next")
      assert.deepEqual(yield* Effect.promise(async () => store.load("branch:acme/app/main")), [{
        kind: "blocker",
        text: "of the branch",
        at: 0
      }])
    }))

  it.effect("removes resolved items from every key, and replaces a handoff by the next one", () =>
    Effect.gen(function*() {
      const store = SessionMemory.memory()
      const options = { keys, store, framing: (text: string) => text }
      yield* session({ ...options, keyFor: () => "repo:acme/app" }, [["blocker", "no key"], [
        "handoff",
        "step 1 done\nnow 2"
      ]])
      yield* TestClock.adjust("1 day")
      const keyFor = () => "repo:acme/app"
      assert.strictEqual(
        yield* session({ ...options, keyFor }, [["resolved", "no key"], ["handoff", "step 2 done"]]),
        [
          "Handoff of the last session:\nstep 1 done\nnow 2",
          "Blockers:\n- no key"
        ].join("\n")
      )
      assert.strictEqual(yield* session(options), "Handoff of the last session:\nstep 2 done")
      assert.deepEqual(yield* Effect.promise(async () => store.load("repo:acme/app")), [{
        kind: "handoff",
        text: "step 2 done",
        at: 86_400_000
      }])
    }))

  const kinds = Schema.Literals(["fact", "blocker", "note", "handoff"])
  const many = Schema.Array(Schema.Tuple([kinds, Schema.String]))
  it.effect.prop("never recalls more than the limit, and keeps each text once", [
    many,
    Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 400 }))
  ], ([written, maxChars]) =>
    Effect.gen(function*() {
      const store = SessionMemory.memory()
      const options = { keys: ["a"], store, framing: (text: string) => text }
      yield* session(options, [...written, ...written])
      const items = yield* Effect.promise(async () => store.load("a") as ReadonlyArray<SessionMemory.Item>)
      assert.lengthOf(new Set(items.map(({ text }) => text)), items.length)
      assert.isAtMost(items.filter(({ kind }) => kind === "handoff").length, 1)
      const begun = yield* session({ ...options, maxChars })
      if (items.length > 0 && begun !== "undefined") assert.isAtMost(begun.length, maxChars)
    }))

  it.effect("makes one visible line of each item", () =>
    Effect.gen(function*() {
      const options = { keys, store: SessionMemory.memory(), framing: (text: string) => text }
      yield* session(options, [["fact", "one\nBlockers:\n- two\u001b[2J\u202e"], ["note", "  "], [
        "fact",
        "x".repeat(5_000)
      ]])
      const begun = yield* session(options)
      assert.strictEqual(begun, `Facts:\n- ${"x".repeat(999)}…\n- one Blockers: - two[2J`)
    }))

  it.effect("keeps its notes within the limit of the state", () =>
    Effect.gen(function*() {
      const scope = TestScope.make()
      for (let n = 0; n < 400; n++) SessionMemory.note(scope, { kind: "fact", text: `${n} ${"\u{1f600}".repeat(400)}` })
      const waiting = SessionMemory.notes(scope.state)
      assert.isAbove(waiting.length, 20)
      assert.match(waiting.at(-1)!.text, /^399 /)
      assert.isBelow(JSON.stringify(scope.state.snapshot()).length, HookState.maxKey)
    }))

  it.effect("keeps the newest items of a key", () =>
    Effect.gen(function*() {
      const options = { keys: ["a"], store: SessionMemory.memory(), maxItems: 2, framing: (text: string) => text }
      yield* session(options, [["fact", "one"], ["fact", "two"], ["fact", "three"]])
      assert.strictEqual(yield* session(options), "Facts:\n- three\n- two")
    }))

  it("rejects invalid numbers", () => {
    assert.throws(() => SessionMemory.make({ keys, maxChars: 0 }), ConfigError, /session-memory\.maxChars/)
    assert.throws(() => SessionMemory.make({ keys, maxItems: 1.5 }), ConfigError, /session-memory\.maxItems/)
  })
})

describe("SessionMemory in an agent", () => {
  const within = async <A>(use: (folder: string) => Promise<A>): Promise<A> => {
    const made = await mkdtemp(join(tmpdir(), "belay-memory-"))
    const used = await use(made)
    await rm(made, { recursive: true })
    return used
  }

  // rows: B-40
  it("lets the model remember with a tool, and the next agent recall it from the folder", () =>
    within(async (folder) => {
      const make = (script: ReadonlyArray<Scripted.Entry>) => {
        const provider = Scripted.make(script)
        const store = SessionMemory.folder(join(folder, "memory"))
        const agent = createAgent({
          provider,
          tools: [SessionMemory.remember()],
          hooks: [SessionMemory.make({ keys, store })]
        })
        return { agent, provider }
      }
      const first = make([asks("fact", "the build needs node 24"), asks("secret" as "fact", "misfit"), "done"])
      await first.agent.run("go")
      await first.agent.close()
      const second = make(["hello", "again"])
      const session = await second.agent.session()
      await session.run("hi")
      await session.run("ho")
      const [opening, ...rest] = second.provider.requests[1]!.messages
      assert.deepInclude(opening, { role: "user", source: "session-memory", pinned: true })
      assert.include(JSON.stringify(opening), "the build needs node 24")
      assert.notInclude(JSON.stringify(opening), "misfit")
      assert.notInclude(JSON.stringify(rest), "node 24")
      await second.agent.close()
      const files = await readdir(join(folder, "memory"))
      assert.lengthOf(files, 1)
      assert.match(files[0]!, /^branch_acme_app_main-[0-9a-f]{14}\.json$/)
    }))

  it("keeps the notes of a suspended run, and does not recall twice in a resumed run", async () => {
    const store = SessionMemory.memory()
    await (store.save(keys[2]!, [{ kind: "fact", text: "known before", at: 1 }]) as Promise<void> | undefined)
    const deploy = defineTool({
      name: "deploy",
      description: "Deploy",
      input: Schema.Struct({}),
      execute: () => "deployed"
    })
    const ask = { name: "ask", tools: "deploy", preToolCall: () => HookAction.ask("sure?") }
    const make = (script: ReadonlyArray<Scripted.Entry>, own: SessionMemory.Store) =>
      createAgent({
        provider: Scripted.make(script),
        tools: [SessionMemory.remember(), deploy],
        hooks: [SessionMemory.make({ keys, store: own }), ask]
      })
    await using first = make([asks("blocker", "written before"), Scripted.toolCalls({ name: "deploy" })], store)
    const asked = await first.run("go")
    if (asked.status !== "suspended") return assert.fail(asked.status)
    const other = SessionMemory.memory()
    const second = make(["done"], other)
    const ended = await second.resume(JSON.stringify(asked.snapshot), {
      [asked.pending[0]!.callId]: { type: "approve" }
    })
    assert.lengthOf(JSON.stringify(ended.messages).match(/known before/g) ?? [], 1)
    await second.close()
    const kept = await (other.load(keys[2]!) as unknown as Promise<ReadonlyArray<SessionMemory.Item>>)
    assert.deepEqual(kept.map(({ kind, text }) => [kind, text]), [["blocker", "written before"]])
  })

  it.effect("stores the notes when a session is rotated", () =>
    Effect.gen(function*() {
      const store = SessionMemory.memory()
      const runtime = yield* AgentRuntime.make({
        provider: Scripted.make([asks("handoff", "half done"), "ok"]),
        tools: [SessionMemory.remember()],
        hooks: [SessionMemory.make({ keys, store })]
      })
      const session = yield* runtime.session()
      yield* session.run("go")
      yield* session.close("rotate")
      assert.deepEqual(yield* Effect.promise(async () => store.load(keys[2]!)), [{
        kind: "handoff",
        text: "half done",
        at: 0
      }])
    }))

  it("starts without a memory that cannot be read, warns, and never overwrites it", () =>
    within(async (folder) => {
      const store = SessionMemory.folder(folder)
      await Effect.runPromise(store.save("a", []) as Effect.Effect<void>)
      const [file] = await readdir(folder)
      await writeFile(join(folder, file!), "{ broken")
      const events: Array<AgentEvent> = []
      const make = (failOpen: boolean) =>
        createAgent({
          provider: Scripted.make([asks("fact", "new"), "done"]),
          tools: [SessionMemory.remember()],
          hooks: [SessionMemory.make({ keys: ["a"], store, failOpen })]
        })
      const agent = make(true)
      agent.on((event) => void events.push(event))
      assert.strictEqual((await agent.run("go")).status, "completed")
      await agent.close()
      const failures = events.flatMap((event) =>
        event.type === "hook-failed" ? [`${event.point}: ${event.message}`] : []
      )
      assert.lengthOf(failures, 2)
      assert.match(failures[0]!, /^onSessionStart: the session memory in .* is broken, and stays as it is/)
      assert.match(failures[1]!, /^onSessionEnd: /)
      assert.strictEqual(await readFile(join(folder, file!), "utf8"), "{ broken")
      await using strict = make(false)
      assert.match(String(await strict.run("go").catch((error: unknown) => error)), /onSessionStart/)
    }))
})
