import { defineHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import * as HookChain from "@belay/core/HookChain"
import type { Json } from "@belay/core/Json"
import * as Approval from "@belay/hooks/Approval"
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import { call } from "../support/events.ts"
import * as Scope from "../support/scope.ts"

const approving = (
  options: Approval.Options,
  ...others: ReadonlyArray<Parameters<typeof HookChain.makeUnsafe>[0][number]>
) => HookChain.makeUnsafe([Approval.make(options), ...others])

/** A person who answers when the test says so, and the requests they have before them. */
const person = () => {
  const waiting = new Map<
    string,
    { readonly request: Approval.Request; readonly answer: (answer: Approval.Answer) => void }
  >()
  const shown: Array<string> = []
  const ask = (request: Approval.Request) =>
    new Promise<Approval.Answer>((resolve) => {
      shown.push(request.callId)
      waiting.set(request.callId, { request, answer: resolve })
    })
  return { ask, shown, waiting, answer: (id: string, answer: Approval.Answer) => waiting.get(id)!.answer(answer) }
}

const cancellable = () => new AbortController()

/** Lets everything run that can. */
const settle = Effect.repeat(Effect.promise(() => new Promise((resolve) => setImmediate(resolve))), { times: 9 })

describe("Approval", () => {
  it.effect("A-63 lets an approved call run as it is", () =>
    Effect.gen(function*() {
      const event = call("deploy", { to: "staging" })
      const outcome = yield* approving({ tools: "deploy", ask: () => ({ type: "approve" }) }).run(
        "preToolCall",
        event,
        Scope.make()
      )
      assert.strictEqual(outcome.action._tag, "Continue")
      assert.strictEqual(outcome.event, event)
    }))

  it.effect("A-63 rejects a denied call with the person's reason", () =>
    Effect.gen(function*() {
      const chain = approving({ tools: "deploy", ask: async () => ({ type: "deny", reason: "not today" }) })
      const { action, by } = yield* chain.run("preToolCall", call("deploy"), Scope.make())
      assert.deepEqual([action, by], [{ _tag: "Reject", reason: "not today" }, "human-approval"])
    }))

  it.effect("A-63 runs an edited call with the person's arguments", () =>
    Effect.gen(function*() {
      const chain = approving({ tools: "deploy", ask: () => Effect.succeed({ type: "edit", args: { to: "staging" } }) })
      const { action, event } = yield* chain.run("preToolCall", call("deploy", { to: "production" }), Scope.make())
      assert.strictEqual(action._tag, "Transform")
      assert.deepEqual(event, call("deploy", { to: "staging" }))
    }))

  it.effect("asks the runtime to suspend when there is nobody to ask", () =>
    Effect.gen(function*() {
      const chain = approving({ tools: "deploy", reason: ({ name }) => `may ${name} run?` })
      const { action } = yield* chain.run("preToolCall", call("deploy"), Scope.make())
      const details = { description: "The tool deploy.", readOnly: false, destructive: false, sandbox: "none" }
      assert.deepEqual(action, { _tag: "Ask", reason: "may deploy run?", details })
    }))

  it.effect("asks for the tools it is for and no others", () =>
    Effect.gen(function*() {
      const tags = (tools: Approval.Options["tools"]) =>
        Effect.forEach(
          ["read_file", "write_file", "deploy"],
          (name) =>
            Effect.map(approving({ tools }).run("preToolCall", call(name), Scope.make()), ({ action }) => action._tag)
        )
      assert.deepEqual(yield* tags("*"), ["Ask", "Ask", "Ask"])
      assert.deepEqual(yield* tags(["*", "!read_*"]), ["Continue", "Ask", "Ask"])
      assert.deepEqual(yield* tags(["!read_*", "*_file"]), ["Continue", "Ask", "Continue"])
      assert.deepEqual(yield* tags("!deploy"), ["Ask", "Ask", "Continue"])
      assert.deepEqual(yield* tags([]), ["Continue", "Continue", "Continue"])
      assert.deepEqual(yield* tags("re.d_file"), ["Continue", "Continue", "Continue"])
    }))

  it.effect("asks only when the call is of the kind, and also when that cannot be told", () =>
    Effect.gen(function*() {
      const scope = Scope.make()
      const chain = approving({
        tools: "*",
        when: ({ args, name }) =>
          name === "broken" ? assert.fail("cannot tell") : JSON.stringify(args).includes("production")
      })
      const tag = (event: ReturnType<typeof call>) =>
        Effect.map(chain.run("preToolCall", event, scope), ({ action }) => action._tag)
      assert.strictEqual(yield* tag(call("deploy", { to: "staging" })), "Continue")
      assert.strictEqual(yield* tag(call("deploy", { to: "production" })), "Ask")
      assert.strictEqual(yield* tag(call("broken")), "Ask")
      assert.lengthOf(scope.warnings, 1)
    }))

  const nonsense: ReadonlyArray<unknown> = [undefined, null, true, "approve", {}, { type: "yes" }, { type: "edit" }, {
    type: "edit",
    args: () => 1
  }, {
    _tag: "Continue"
  }]
  for (const answer of nonsense) {
    it.effect(`denies when the answer is ${answer === undefined ? "nothing" : JSON.stringify(answer)}`, () =>
      Effect.gen(function*() {
        const scope = Scope.make()
        const chain = approving({ tools: "*", ask: () => answer as Approval.Answer })
        assert.strictEqual((yield* chain.run("preToolCall", call("deploy"), scope)).action._tag, "Reject")
        assert.lengthOf(scope.warnings, 1)
      }))
  }

  for (
    const [how, ask] of [
      ["throws", () => assert.fail("no terminal")],
      ["rejects", () => Promise.reject(new Error("no terminal"))],
      ["fails", () => Effect.fail("no terminal")],
      ["dies", () => Effect.die("no terminal")],
      ["interrupts itself", () => Effect.interrupt]
    ] as const
  ) {
    it.effect(`denies when \`ask\` ${how}, even if the hook is made to fail open`, () =>
      Effect.gen(function*() {
        const chain = HookChain.makeUnsafe([{ ...Approval.make({ tools: "*", ask }), failOpen: true }])
        const { action } = yield* chain.run("preToolCall", call("deploy"), Scope.make())
        assert.deepEqual(action, { _tag: "Reject", reason: "deploy was denied: its approval failed" })
      }))
  }

  it.effect("may ask through a service of the application", () =>
    Effect.gen(function*() {
      class Desk extends Context.Service<Desk, { readonly open: boolean }>()("test/Desk") {}
      const hook = Approval.make({
        tools: "*",
        ask: () =>
          Effect.map(
            Desk,
            ({ open }): Approval.Answer => open ? { type: "approve" } : { type: "deny", reason: "closed" }
          )
      })
      const run = HookChain.makeUnsafe([hook as never]).run("preToolCall", call("deploy"), Scope.make())
      const { action } = yield* Effect.provideService(run, Desk, { open: false })
      assert.deepEqual(action, { _tag: "Reject", reason: "closed" })
    }))

  it("A-63 comes first, fails closed and never times out", () => {
    assert.deepInclude(Approval.make({ tools: "*" }), {
      name: "human-approval",
      priority: 5,
      kind: "policy",
      timeout: "none",
      reinvoke: "ifChanged"
    })
  })
})

describe("Approval of calls side by side", () => {
  it.effect("gives each its own answer, in whatever order they come", () =>
    Effect.gen(function*() {
      const { answer, ask, shown } = person()
      const chain = approving({ tools: "*", ask, concurrency: Infinity })
      const run = (id: string) => Effect.forkChild(chain.run("preToolCall", call("deploy", { id }, id), Scope.make()))
      const [first, second] = [yield* run("1"), yield* run("2")]
      yield* settle
      assert.deepEqual(shown, ["1", "2"])
      answer("2", { type: "deny", reason: "no to the second" })
      answer("1", { type: "edit", args: { id: "first" } })
      const outcomes = [yield* Fiber.join(first), yield* Fiber.join(second)]
      assert.deepEqual(outcomes[0]?.event.args, { id: "first" })
      assert.deepEqual(outcomes[1]?.action, { _tag: "Reject", reason: "no to the second" })
    }))

  it.effect("shows one question at a time", () =>
    Effect.gen(function*() {
      const { answer, ask, shown } = person()
      const chain = approving({ tools: "*", ask })
      const run = (id: string) => Effect.forkChild(chain.run("preToolCall", call("deploy", { id }, id), Scope.make()))
      const fibers = [yield* run("1"), yield* run("2"), yield* run("3")]
      yield* settle
      assert.deepEqual(shown, ["1"])
      answer("1", { type: "approve" })
      yield* settle
      assert.deepEqual(shown, ["1", "2"])
      answer("2", { type: "deny", reason: "no" })
      yield* settle
      answer("3", { type: "approve" })
      const outcomes = yield* Effect.forEach(fibers, Fiber.join)
      assert.deepEqual(outcomes.map(({ action }) => action._tag), ["Continue", "Reject", "Continue"])
    }))

  it.effect("drops a call that was interrupted, asked or still queueing, and goes on with the next", () =>
    Effect.gen(function*() {
      const { answer, ask, shown, waiting } = person()
      const chain = approving({ tools: "*", ask })
      const run = (id: string) => Effect.forkChild(chain.run("preToolCall", call("deploy", { id }, id), Scope.make()))
      const [first, second, third] = [yield* run("1"), yield* run("2"), yield* run("3")]
      yield* settle
      yield* Fiber.interrupt(second)
      yield* Fiber.interrupt(first)
      assert.isTrue(waiting.get("1")!.request.signal.aborted)
      yield* settle
      assert.deepEqual(shown, ["1", "3"])
      answer("1", { type: "approve" })
      answer("3", { type: "approve" })
      assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(first)))
      assert.strictEqual((yield* Fiber.join(third)).action._tag, "Continue")
      assert.isFalse(waiting.get("3")!.request.signal.aborted)
    }))
})

describe("Approval and the end of the turn", () => {
  it.effect("never approves once the turn's signal has aborted", () =>
    Effect.gen(function*() {
      const { answer, ask, shown } = person()
      const controller = cancellable()
      const chain = approving({ tools: "*", ask })
      const run = (id: string) =>
        chain.run("preToolCall", call("deploy", {}, id), Scope.make({ signal: controller.signal }))
      const fiber = yield* Effect.forkChild(run("1"))
      yield* settle
      controller.abort()
      answer("1", { type: "approve" })
      assert.strictEqual((yield* Fiber.join(fiber)).action._tag, "Reject")
      assert.strictEqual((yield* run("2")).action._tag, "Reject")
      assert.deepEqual(shown, ["1"])
    }))

  it.effect("is interrupted, not answered, when the turn is interrupted for its signal", () =>
    Effect.gen(function*() {
      const { ask } = person()
      const scope = Scope.make()
      const controller = cancellable()
      const chain = approving({ tools: "*", ask })
      const fiber = yield* Effect.forkChild(
        chain.run("preToolCall", call("deploy"), { ...scope, signal: controller.signal })
      )
      yield* settle
      controller.abort()
      fiber.interruptUnsafe()
      assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(fiber)))
      assert.deepEqual(scope.records.map(({ hooks }) => hooks.map(({ answer }) => answer)), [["cancelled"]])
    }))
})

describe("Approval and what runs", () => {
  it.effect("shows the very arguments that will run, frozen", () =>
    Effect.gen(function*() {
      const asked = yield* Deferred.make<Approval.Request>()
      const args = { files: ["a"] }
      const chain = approving({
        tools: "*",
        ask: (request) => Effect.as(Deferred.succeed(asked, request), { type: "approve" as const })
      })
      const { event } = yield* chain.run("preToolCall", call("delete", args), Scope.make({ freeze: false }))
      const request = yield* Deferred.await(asked)
      assert.strictEqual(request.args, event.args)
      assert.throws(() => args.files.push("b"), TypeError)
      assert.strictEqual(request.fingerprint, HookChain.fingerprint("delete", { files: ["a"] }))
      assert.deepInclude(request, { tool: "delete", callId: "call-delete", reason: "delete needs approval" })
    }))

  it.effect("denies when the arguments change under the person's eyes all the same", () =>
    Effect.gen(function*() {
      const files: Array<string> = ["a"]
      const args: Json = Object.freeze({ files })
      const chain = approving({
        tools: "*",
        ask: () => {
          files.push("b")
          return { type: "approve" }
        }
      })
      const { action } = yield* chain.run("preToolCall", call("delete", args), Scope.make({ freeze: false }))
      assert.strictEqual(action._tag, "Reject")
    }))

  it.effect("asks again when a later hook changes the arguments", () =>
    Effect.gen(function*() {
      const seen: Array<Json> = []
      const later = defineHook({
        name: "later",
        preToolCall: ({ id, name }) => HookAction.transform({ id, name, args: { to: "production" } })
      })
      const ask = ({ args }: Approval.Request): Approval.Answer => {
        seen.push(args)
        return seen.length === 1 ? { type: "approve" } : { type: "deny", reason: "not there" }
      }
      const { action } = yield* approving({ tools: "*", ask }, later).run(
        "preToolCall",
        call("deploy", { to: "staging" }),
        Scope.make()
      )
      assert.deepEqual(seen, [{ to: "staging" }, { to: "production" }])
      assert.deepEqual(action, { _tag: "Reject", reason: "not there" })
    }))

  it.effect("does not ask again about what it has edited itself", () =>
    Effect.gen(function*() {
      let questions = 0
      const ask = (): Approval.Answer => {
        questions++
        return { type: "edit", args: { to: "staging" } }
      }
      const { event } = yield* approving({ tools: "*", ask }).run(
        "preToolCall",
        call("deploy", { to: "production" }),
        Scope.make()
      )
      assert.deepEqual([event.args, questions], [{ to: "staging" }, 1])
    }))

  it.effect("is asked although an earlier hook replaces the call", () =>
    Effect.gen(function*() {
      const first = defineHook({
        name: "first",
        priority: 1,
        preToolCall: ({ id, name }) => HookAction.replace({ id, name, args: { to: "x" } })
      })
      const { action } = yield* approving({ tools: "*" }, first).run("preToolCall", call("deploy"), Scope.make())
      assert.strictEqual(action._tag, "Ask")
    }))
})
