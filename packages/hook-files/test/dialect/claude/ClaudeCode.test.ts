import * as Command from "@belay/hook-files/Command"
import * as HookConfig from "@belay/hook-files/HookConfig"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import { readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { call } from "../../../../../test/support/events.ts"
import { folder } from "../../support/processes.ts"
import { answer, group, result, specific, world } from "./support.ts"

describe("ClaudeCode", () => {
  it.effect("tells PreToolUse as scripts expect it", () =>
    Effect.gen(function*() {
      const { at, told } = world({ PreToolUse: [group([{ command: "x" }])] })
      yield* at("preToolCall", call("write_file", { path: "src/a.ts", contents: "x" }))
      const { input, request } = told[0]!
      assert.deepEqual(input, {
        tool_name: "Write",
        tool_input: { file_path: "/p/src/a.ts", content: "x" },
        tool_use_id: "call-write_file",
        session_id: "session-1",
        transcript_path: "",
        cwd: "/p",
        permission_mode: "default",
        prompt_id: input["prompt_id"]!,
        hook_event_name: "PreToolUse"
      })
      assert.match(input["prompt_id"] as string, /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-8[\da-f]{3}-[\da-f]{12}$/)
      assert.isTrue(request.input.endsWith("}\n"))
      assert.strictEqual(request.timeoutMs, 600_000)
      assert.deepEqual(request.env, {
        CLAUDE_PROJECT_DIR: "/p",
        tool_name: "Write",
        tool_input_file_path: "/p/src/a.ts",
        tool_input_content: "x",
        tool_input_path: "src/a.ts",
        tool_input_contents: "x"
      })
    }))

  // rows: C-10, C-11
  it.effect("spawns nothing for what neither matcher nor `if` fits", () =>
    Effect.gen(function*() {
      const { at, bash, told } = world({
        PreToolUse: [
          group([{ command: "push", if: "Bash(git push*)" }, { command: "src", if: "Write(src/**/*.ts)" }, {
            command: "js",
            if: "tool.name === 'Bash'"
          }]),
          group([{ command: "edit" }], "Edit|MultiEdit")
        ]
      })
      yield* bash("git status")
      yield* bash("ls; npm t")
      yield* at("preToolCall", call("write_file", { path: "build/src/a.ts", content: "" }))
      yield* at("preToolCall", call("read_file", { path: "src/a.ts" }))
      assert.deepEqual(told, [])
      yield* bash("npm t && git push origin main")
      yield* at("preToolCall", call("write_file", { path: "src/x/y.ts", content: "" }))
      yield* at("preToolCall", call("edit_file", { path: "a", old: "x", new: "y" }))
      assert.deepEqual(told.map(({ command }) => command), ["push", "src", "edit"])
    }))

  const decisions: ReadonlyArray<readonly [what: string, Command.Finished, expected: object]> = [
    ["nothing", answer(), { _tag: "Continue" }],
    ["exit 2", answer("", 2, "never\n"), { _tag: "Reject", reason: "never" }],
    ["deny", answer(specific("PreToolUse", { permissionDecision: "deny", permissionDecisionReason: "no" })), {
      _tag: "Reject",
      reason: "no"
    }],
    ["allow", answer(specific("PreToolUse", { permissionDecision: "allow" })), { _tag: "Continue" }],
    ["ask", answer(specific("PreToolUse", { permissionDecision: "ask", permissionDecisionReason: "sure?" })), {
      _tag: "Ask",
      reason: "sure?"
    }],
    ["defer", answer(specific("PreToolUse", { permissionDecision: "defer" })), { _tag: "Ask" }],
    ["stop", answer({ continue: false, stopReason: "enough" }), { _tag: "Abort", reason: "enough" }],
    ["exit 1", answer("", 1, "oops"), { _tag: "Continue" }]
  ]
  for (const [what, finished, expected] of decisions) {
    it.effect(`answers ${what} with ${(expected as { readonly _tag: string })._tag}`, () =>
      Effect.gen(function*() {
        const { bash } = world({ PreToolUse: [group([{ command: "x" }])] }, { x: finished })
        assert.deepInclude(yield* bash("rm -rf build"), expected)
      }))
  }

  it.effect("asks about a new input that is to be approved", () =>
    Effect.gen(function*() {
      const asked = answer(specific("PreToolUse", { permissionDecision: "ask", updatedInput: { command: "ls" } }))
      const { at } = world({ PreToolUse: [group([{ command: "x" }])] }, { x: asked })
      const action = yield* at("preToolCall", call("bash", { command: "rm -rf build" }, "c1"))
      assert.strictEqual(action._tag, "Ask")
      assert.deepInclude(action.event, { args: { command: "ls" } })
    }))

  // rows: C-21
  it.effect("lets the tool run with a new input, under its own names and with its own spelling of what did not change", () =>
    Effect.gen(function*() {
      const updatedInput = { file_path: "/p/src/a.ts", content: "new", extra: 1 }
      const { at } = world({ PreToolUse: [group([{ command: "x" }])] }, {
        x: answer(specific("PreToolUse", { updatedInput }))
      })
      const action = yield* at("preToolCall", call("write_file", { path: "src/a.ts", text: "old" }, "c1"))
      assert.deepInclude(action.event, {
        id: "c1",
        name: "write_file",
        args: { path: "src/a.ts", text: "new", extra: 1 }
      })
    }))

  it.effect("takes names and fields of tools from the host", () =>
    Effect.gen(function*() {
      const toolNames = { put: { name: "Write", fields: { where: "file_path" } }, __proto__: null, go: "Bash" } as never
      const { at, told } = world({ PreToolUse: [group([{ command: "x" }])] }, {
        x: answer(specific("PreToolUse", { updatedInput: { file_path: "/q", what: "b" } }))
      }, { toolNames })
      const action = yield* at("preToolCall", call("put", { where: "/a", what: "b" }, "c1"))
      assert.deepEqual(told[0]!.input["tool_input"], { file_path: "/a", what: "b" })
      assert.deepInclude(action.event, { id: "c1", name: "put", args: { where: "/q", what: "b" } })
      for (const tool of ["go", "constructor", "toString", "mcp__s__t"]) yield* at("preToolCall", call(tool, ["a"]))
      assert.deepEqual(told.slice(1).map(({ input }) => input["tool_name"]), [
        "Bash",
        "constructor",
        "toString",
        "mcp__s__t"
      ])
    }))

  // rows: C-35, U-05
  it.effect("runs the commands of an event at once, but not more than it may", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      let now = 0
      let most = 0
      const slow = Effect.gen(function*() {
        most = Math.max(most, ++now)
        if (now === 3) yield* Deferred.succeed(gate, undefined)
        yield* Deferred.await(gate)
        now--
        return answer()
      })
      const names = Array.from({ length: 7 }, (_, index) => `c${index}`)
      const { bash, told } = world(
        { PreToolUse: [group(names.map((command) => ({ command })))] },
        Object.fromEntries(names.map((one) => [one, slow])),
        {
          concurrency: 3
        }
      )
      yield* bash("ls")
      assert.strictEqual(most, 3)
      assert.lengthOf(told, 7)
    }))

  // rows: C-34
  it.effect.prop(
    "answers the same in whatever order its commands end",
    [
      Schema.Array(Schema.Literals(["deny", "ask", "allow", "two", "one", "context", "stop", "input"])).check(
        Schema.isMaxLength(6)
      ),
      Schema.Int
    ],
    ([kinds, seed]) =>
      Effect.gen(function*() {
        const says = (kind: string, index: number): Command.Finished => {
          if (kind === "two") return answer("", 2, `two ${index}`)
          if (kind === "one") return answer("", 1, `one ${index}`)
          if (kind === "stop") return answer({ continue: false, stopReason: `stop ${index}` })
          if (kind === "context") return answer(specific("PreToolUse", { additionalContext: `context ${index}` }))
          if (kind === "input") return answer(specific("PreToolUse", { updatedInput: { command: `new ${index}` } }))
          return answer(
            specific("PreToolUse", { permissionDecision: kind, permissionDecisionReason: `${kind} ${index}` })
          )
        }
        const run = Effect.fnUntraced(function*(order: ReadonlyArray<number>) {
          const gates = yield* Effect.forEach(kinds, () => Deferred.make<void>())
          const answers = Object.fromEntries(
            kinds.map((kind, index) => [
              `c${index}`,
              Effect.gen(function*() {
                // Each waits for the one that ends before it.
                const place = order.indexOf(index)
                if (place > 0) yield* Deferred.await(gates[order[place - 1]!]!)
                yield* Deferred.succeed(gates[index]!, undefined)
                return says(kind, index)
              })
            ])
          )
          const { bash, heard, scope } = world({
            PreToolUse: [group(kinds.map((_, index) => ({ command: `c${index}` })))]
          }, answers)
          const action = yield* bash("ls")
          return { action, heard, warnings: scope.warnings }
        })
        const forward = kinds.map((_, index) => index)
        const shuffled = [...forward].sort((a, b) => ((a * 7 + Math.abs(seed)) % 5) - ((b * 7 + Math.abs(seed)) % 5))
        const first = yield* run(forward)
        assert.deepEqual(yield* run([...forward].reverse()), first)
        assert.deepEqual(yield* run(shuffled), first)
      })
  )

  // rows: C-51, C-52, U-20
  it.effect("runs the same command once though several groups name it, and once in a session where it says so", () =>
    Effect.gen(function*() {
      const { handlers } = HookConfig.decode(
        JSON.stringify({
          hooks: { PreToolUse: [group([{ command: "x" }, { command: "first" }]), group([{ command: "x" }], "Bash")] }
        }),
        "s.json"
      )
      const once = handlers.map((one) => one.key.endsWith("hooks[1]") ? { ...one, once: true } : one)
      const { bash, told } = world({}, {}, { handlers: once })
      yield* Effect.all([bash("a"), bash("b"), bash("c")], { concurrency: "unbounded" })
      assert.deepEqual(told.map(({ command }) => command).sort(), ["first", "x", "x", "x"])
    }))

  it("reads once in the front matter of a skill only, as Claude Code does", () => {
    const text = JSON.stringify({ hooks: { PreToolUse: [group([{ command: "x", once: true }])] } })
    const once = (type?: "skill" | "agent" | "plugin") =>
      HookConfig.decode(text, "f", type === undefined ? {} : { origin: { type, name: "a", root: "/a" } }).handlers[0]!
        .once
    assert.deepEqual([once(), once("plugin"), once("agent"), once("skill")], [undefined, undefined, undefined, true])
  })

  // rows: C-24
  it.effect("does not wait for asynchronous commands, and hands on later what they said", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      const said = yield* Deferred.make<void>()
      const slow = Effect.gen(function*() {
        yield* Deferred.await(gate)
        yield* Effect.forkDetach(Deferred.succeed(said, undefined))
        return answer({
          decision: "block",
          reason: "too late",
          systemMessage: "for the user",
          ...specific("PostToolUse", { additionalContext: "tests failed" })
        })
      })
      const { at, heard } = world({ PostToolUse: [group([{ command: "slow", async: true }])] }, { slow })
      assert.strictEqual((yield* at("postToolCall", result("bash", { command: "ls" }, "out")))._tag, "Continue")
      yield* at("preTurn", { message: "one" })
      assert.deepEqual(heard.injected, [])
      yield* Deferred.succeed(gate, undefined)
      yield* Deferred.await(said)
      yield* at("preTurn", { message: "two" })
      assert.deepEqual([heard.injected, heard.users], [["tests failed"], ["for the user"]])
      yield* at("preTurn", { message: "three" })
      assert.lengthOf(heard.injected, 1)
    }))

  // rows: C-23
  it.effect("goes on at once when a command says in its first line that nobody has to wait", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      const said = yield* Deferred.make<void>()
      const run: Command.Runner = ({ onFirstLine }) =>
        Effect.gen(function*() {
          onFirstLine?.(`{"async": true, "asyncTimeout": 30}`)
          yield* Deferred.await(gate)
          yield* Effect.forkDetach(Deferred.succeed(said, undefined))
          return answer(`{"async": true, "asyncTimeout": 30}\n{"systemMessage": "later"}`)
        })
      const { at, bash, heard } = world({ PreToolUse: [group([{ command: "x" }])] }, {}, { run })
      assert.strictEqual((yield* bash("ls"))._tag, "Continue")
      yield* Deferred.succeed(gate, undefined)
      yield* Deferred.await(said)
      yield* at("preTurn", { message: "next" })
      assert.deepEqual(heard.users, ["later"])
    }))

  it.effect("ends what goes on by itself after its time", () =>
    Effect.gen(function*() {
      const ended = yield* Deferred.make<void>()
      const run: Command.Runner = ({ onFirstLine }) =>
        Effect.onInterrupt(
          Effect.suspend(() => {
            onFirstLine?.(`{"async":true,"asyncTimeout":30}`)
            return Effect.never
          }),
          () => Deferred.succeed(ended, undefined)
        )
      const { bash } = world({ PreToolUse: [group([{ command: "x" }])] }, {}, { run })
      assert.strictEqual((yield* bash("ls"))._tag, "Continue")
      yield* TestClock.adjust("29 seconds")
      assert.isFalse(yield* Deferred.isDone(ended))
      yield* TestClock.adjust("1 second")
      yield* Deferred.await(ended)
    }))

  it.effect("writes a transcript where it is asked to", () =>
    Effect.gen(function*() {
      const transcripts = folder()
      const { at, bash, told } = world({ PreToolUse: [group([{ command: "x" }])] }, {}, { transcripts })
      yield* at("preTurn", { message: "go" })
      yield* bash("ls")
      yield* at("postToolCall", result("bash", { command: "ls" }, "a.ts"))
      const path = told[0]!.input["transcript_path"] as string
      assert.strictEqual(path, join(transcripts, "session-1.jsonl"))
      const lines = readFileSync(path, "utf8").trim().split("\n").map((line) => JSON.parse(line))
      assert.deepEqual(lines.map(({ message, type }) => [type, message.content]), [
        ["user", "go"],
        ["user", [{ type: "tool_result", tool_use_id: "call-1", content: "a.ts", is_error: false }]]
      ])
      assert.strictEqual(statSync(path).mode & 0o777, 0o600)
    }))
})
