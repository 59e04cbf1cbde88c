/** Backtests: hooks that are tried on recordings of real runs. */
import { agentTool, createAgent, defineTool, HookAction } from "@belay/core"
import type { AgentHook } from "@belay/core/AgentHook"
import * as ToolCallLimit from "@belay/hooks/ToolCallLimit"
import * as Recorder from "@belay/observe/Recorder"
import * as Recording from "@belay/observe/Recording"
import * as Backtest from "@belay/testing/Backtest"
import * as Scripted from "@belay/testing/Scripted"
import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { mkdtempSync, readFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const bash = defineTool({ name: "bash", description: "Runs a command", input: { type: "object" }, execute: () => "ok" })
const runs = (command: string) => Scripted.toolCalls({ name: "bash", args: { command } })

const stopping = (name: string, pattern: RegExp): AgentHook => ({
  name,
  tools: "bash",
  preToolCall: ({ args }) => pattern.test(JSON.stringify(args)) ? HookAction.reject(`not ${pattern.source}`) : undefined
})

/** Records as many sessions. In each, a sub-agent runs a command, and a guard refuses one. */
const record = async (sessions: number): Promise<ReadonlyArray<Backtest.Input>> => {
  const path = join(mkdtempSync(join(tmpdir(), "belay-backtest-")), "run.jsonl")
  const plugin = Recorder.make({ path })
  for (let index = 0; index < sessions; index++) {
    const child = createAgent({ name: "child", provider: Scripted.make([runs("ls"), "listed"]), tools: [bash] })
    const agent = createAgent({
      name: "lead",
      provider: Scripted.make([
        Scripted.toolCalls({ name: "child", args: { message: "list" } }),
        runs("rm -rf build"),
        runs("git push --force"),
        "done",
        runs("ls"),
        "done again"
      ]),
      tools: [bash, agentTool({ agent: child, name: "child", description: "Helps" })],
      hooks: [stopping("no-rm", /rm -rf/)],
      plugins: [plugin]
    })
    const session = await agent.session({ id: `s${index}` })
    await session.run("one")
    await session.run("two")
    await agent.close()
  }
  const { entries } = Result.getOrThrow(Recording.parse(readFileSync(path, "utf8")))
  return entries.filter((entry) => entry.type === "input")
}

describe("a backtest", () => {
  it("finds what a new hook would refuse, with the place and the reason", async () => {
    const { counts, findings, sessions, stricterShare } = await Backtest.run(
      stopping("no-force", /--force/),
      await record(3)
    )
    assert.strictEqual(sessions, 3)
    assert.deepStrictEqual(counts, { stricter: 3, looser: 0, changes: 0, same: 0, fails: 0 })
    assert.strictEqual(stricterShare, 3 / 15)
    assert.deepInclude(findings[0], {
      session: "s0",
      point: "preToolCall",
      subject: "bash",
      turn: 1,
      step: 3,
      answer: "Reject",
      reason: "not --force",
      recorded: "Continue",
      kind: "stricter"
    })
  })

  it("knows what was refused then: the same again, or not any more", async () => {
    const inputs = await record(1)
    const same = await Backtest.run(stopping("no-rm", /rm /), inputs)
    assert.strictEqual(same.counts.same, 1)
    const looser = await Backtest.run(stopping("no-rm", /rm -rf \//), inputs)
    assert.strictEqual(looser.counts.looser, 1)
    assert.deepInclude(looser.findings[0], { answer: "Continue", recorded: "Reject", kind: "looser" })
    const other = await Backtest.run(stopping("other", /nothing/), inputs)
    assert.lengthOf(other.findings, 0)
  })

  it("carries the state of a hook along, for a tree of agents and from turn to turn", async () => {
    const inputs = await record(2)
    const { findings } = await Backtest.run(() => ToolCallLimit.make({ perTurn: 3 }), inputs)
    const places = findings.map(({ agent, session, step, turn }) => `${session} ${agent} ${turn}.${step}`)
    assert.deepStrictEqual(places, ["s0 lead 1.3", "s1 lead 1.3"])
  })

  it("does not stop at a hook that fails, and counts it", async () => {
    const { counts } = await Backtest.run(
      { name: "ill", preToolCall: () => assert.fail("ill") as never },
      await record(1)
    )
    assert.strictEqual(counts.fails, 5)
  })

  it("names a text in place of inputs, of which the hook would get nothing", async () => {
    const why = (inputs: unknown) =>
      Backtest.run(stopping("no-rm", /rm/), inputs as ReadonlyArray<Backtest.Input>)
        .then(() => assert.fail("it ran"), (error: Error) => error.message)
    assert.match(await why("{\"type\":\"input\"}\n"), /^Backtest\.run: it cannot use these values: .*inputs is "/)
    assert.match(await why(["{\"type\":\"input\"}"]), /inputs\[0\] is "/)
    assert.match(await why(undefined), /inputs is nothing/)
  })

  it("compares with what is expected", async () => {
    const result = await Backtest.run(stopping("no-force", /--force/), await record(1))
    assert.deepStrictEqual(
      Backtest.unmet(result, [
        { session: "s0", subject: "bash", step: 3, turn: 1, expect: "Reject" },
        { session: "s0", turn: 2, expect: "Continue" }
      ]),
      []
    )
    const wrong = Backtest.unmet(result, [
      { session: "s0", turn: 2, expect: "Reject" },
      { session: "s0", step: 3, expect: "Continue" }
    ])
    assert.deepStrictEqual(wrong.map(({ found }) => found), [["Continue"], ["Reject"]])
  })
})
