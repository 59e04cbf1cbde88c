/** The turns of a recording. */
import { agentTool, createAgent, defineTool, HookAction } from "@belay/core"
import * as RecordedTurn from "@belay/observe/RecordedTurn"
import * as Recorder from "@belay/observe/Recorder"
import * as Recording from "@belay/observe/Recording"
import * as Scripted from "@belay/testing/Scripted"
import * as Result from "effect/Result"
import { mkdtempSync, readFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "vitest"

const tool = (name: string) =>
  defineTool({ name, description: name, input: { type: "object" }, execute: () => `${name} done` })

describe("the turns of a recording", () => {
  it("have the message, the answer and the calls, also those of sub-agents and of a turn that people decided about", async () => {
    const path = join(mkdtempSync(join(tmpdir(), "belay-turns-")), "run.jsonl")
    const child = createAgent({
      name: "child",
      provider: Scripted.make([Scripted.toolCalls({ name: "look", args: {} }), "found"]),
      tools: [tool("look")]
    })
    const agent = createAgent({
      name: "lead",
      provider: Scripted.make([
        Scripted.toolCalls({ name: "child", args: { message: "look" } }),
        Scripted.toolCalls({ name: "drop", args: { all: true } }),
        "first answer",
        Scripted.toolCalls({ name: "never", args: {} }),
        "second answer"
      ]),
      tools: [tool("drop"), tool("never"), agentTool({ agent: child, name: "child", description: "Helps" })],
      hooks: [{
        name: "gate",
        preToolCall: ({ name }) =>
          name === "drop"
            ? HookAction.ask("sure?")
            : name === "never"
            ? HookAction.reject("no")
            : undefined,
        preTurn: ({ message }) => message === "forbidden" ? HookAction.reject("not that") : undefined
      }],
      plugins: [Recorder.make({ path })]
    })
    const session = await agent.session({ id: "s" })
    const asked = await session.run("one")
    const { callId } = asked.status === "suspended" ? asked.pending[0]! : assert.fail(asked.status)
    await session.resume({ [callId]: { type: "approve" } })
    await session.run("two")
    await session.run("forbidden").catch(() => {})
    await agent.close()
    const turns = RecordedTurn.of(Result.getOrThrow(Recording.parse(readFileSync(path, "utf8"))))
    assert.deepStrictEqual(turns.map(({ input, output, session, status }) => [session, input, output, status]), [
      ["s", "one", "first answer", "completed"],
      ["s", "two", "second answer", "completed"],
      ["s", "", "", "failed"]
    ])
    const callsOf = (index: number) =>
      turns[index]!.calls.map(({ executed, isError, name, result }) => [name, result, isError, executed])
    assert.deepStrictEqual(callsOf(0), [
      ["look", "look done", false, true],
      ["child", "found", false, true],
      ["drop", "drop done", false, true]
    ])
    assert.deepStrictEqual(callsOf(1), [["never", "refused by gate: no", true, false]])
  })
})
