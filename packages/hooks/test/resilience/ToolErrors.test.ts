import { ConfigError } from "@belay/core/AgentError"
import { createAgent } from "@belay/core/createAgent"
import { defineTool } from "@belay/core/defineTool"
import type { PostToolCallEvent } from "@belay/core/Tool"
import * as Tool from "@belay/core/Tool"
import * as ToolErrors from "@belay/hooks/ToolErrors"
import * as Scripted from "@belay/testing/Scripted"
import { dryRun } from "@belay/testing/TestHook"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { cpuMs } from "../../../../test/support/cpu.ts"
import { call } from "../../../../test/support/events.ts"

/** The error that the model reads. */
const said = (error: string, options: ToolErrors.Options = {}, cwd = "/srv/app") =>
  Effect.map(
    Effect.promise(() =>
      dryRun([ToolErrors.make(options)], "postToolCall", { call: call("build"), result: Tool.failure(error) }, { cwd })
    ),
    // The event of this point has the result.
    ({ event }) => {
      const { result } = event as PostToolCallEvent
      return result.ok ? undefined : result.error
    }
  )

describe("ToolErrors", () => {
  it.effect("removes the stack traces of JavaScript, Python and Java", () =>
    Effect.gen(function*() {
      const javascript =
        "TypeError: x is not a function\n    at run (/srv/app/src/a.ts:1:2)\n    at async /opt/lib/b.js:3:4\n    at <anonymous>"
      assert.strictEqual(yield* said(javascript), "TypeError: x is not a function")
      const python =
        "Traceback (most recent call last):\n  File \"/srv/app/a.py\", line 3, in <module>\n    main()\nValueError: bad input"
      assert.strictEqual(yield* said(python), "ValueError: bad input")
      const java = "java.io.IOException: closed\n\tat com.acme.Main.run(Main.java:12)\n\t... 4 more\nCaused by: timeout"
      assert.strictEqual(yield* said(java), "java.io.IOException: closed\nCaused by: timeout")
      assert.strictEqual(yield* said("    at only (/a/b.ts:1:1)"), "at only (.../b.ts:1:1)")
    }))

  it.effect("shortens the paths of the machine, and keeps those that the model needs", () =>
    Effect.gen(function*() {
      assert.strictEqual(
        yield* said("ENOENT: open '/srv/app/src/a.ts', see /var/lib/secret/b.txt or file:///opt/x/c.js"),
        "ENOENT: open './src/a.ts', see .../b.txt or .../c.js"
      )
      assert.strictEqual(yield* said("cannot find C:\\Users\\ada\\notes.txt"), "cannot find ...\\notes.txt")
      const harmless = "GET https://example.com/a/b/c failed: and/or 1/2, ./src/a.ts, src/b/c.ts"
      assert.strictEqual(yield* said(harmless), harmless)
      assert.strictEqual(yield* said("no /srv/app/src/a.ts", {}, "/"), "no .../a.ts")
    }))

  it.effect("keeps stacks and paths if the options say so", () =>
    Effect.gen(function*() {
      const error = "Error: no\n    at run (/srv/app/a.ts:1:2)"
      assert.strictEqual(yield* said(error, { hideStacks: false, hidePaths: false }), error)
      assert.strictEqual(yield* said(error, { hideStacks: false }), "Error: no\n    at run (./a.ts:1:2)")
    }))

  it.effect.prop("never exceeds its maximum length, and never cuts a character", [
    Schema.String,
    Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 300 }))
  ], ([text, maxLength]) =>
    Effect.gen(function*() {
      const error = yield* said(`${text}${"\u{1f600}".repeat(200)}`.toWellFormed(), { maxLength })
      assert.isAtMost(error!.length, maxLength)
      assert.isTrue(error!.isWellFormed())
    }))

  it.effect("keeps the beginning and the end of a long error", () =>
    Effect.gen(function*() {
      const error = yield* said(`begin ${"x".repeat(5_000)} end`, { maxLength: 200 })
      assert.match(error!, /^begin x+\n\[cut: 4810 characters or more\]\nx+ end$/)
    }))

  it.effect("takes linear time for hostile texts", () =>
    Effect.gen(function*() {
      const began = cpuMs()
      for (const piece of ["/a", "at ", "C:\\a\\", "\n    at (", "File \"", "/", "\\"]) {
        yield* said(piece.repeat(300_000))
      }
      assert.isBelow(cpuMs() - began, 2_000)
    }))

  it.effect("lets a function write the error, and ignores a function that throws", () =>
    Effect.gen(function*() {
      assert.strictEqual(
        yield* said("no\n    at a (/x/y/z.ts:1:1)", { format: (error, event) => `${event.call.name}: ${error}!` }),
        "build: no!"
      )
      const broken = () => {
        throw new Error("oops")
      }
      assert.strictEqual(yield* said("no /a/b/c", { format: broken }), "no .../c")
    }))

  it("gives the model a cleaned error, which is still an error", async () => {
    const fail = defineTool({
      name: "fail",
      description: "Fail",
      input: Schema.Struct({}),
      execute: () => Promise.reject(new Error("cannot open /etc/app/private.key\n    at open (/opt/app/a.js:1:1)"))
    })
    const fine = defineTool({
      name: "fine",
      description: "Fine",
      input: Schema.Struct({}),
      execute: () => "/etc/app/private.key"
    })
    const provider = Scripted.make([Scripted.toolCalls({ name: "fail" }, { name: "fine" }), "done"])
    await using agent = createAgent({ provider, tools: [fail, fine], hooks: [ToolErrors.make({ tools: "fail" })] })
    const { messages } = await agent.run("go")
    assert.deepInclude(messages[2], { content: "cannot open .../private.key", isError: true })
    assert.deepInclude(messages[3], { content: "/etc/app/private.key" })
  })

  it("rejects an invalid length", () => {
    assert.throws(() => ToolErrors.make({ maxLength: 0 }), ConfigError, /tool-errors\.maxLength/)
  })
})
