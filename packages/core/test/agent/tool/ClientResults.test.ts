/** What hooks that check messages do with the result of a tool that the client runs. */
import { assert, describe, it } from "@effect/vitest"
import { createAgent } from "../../../src/agent/createAgent.ts"
import type { AgentHook } from "../../../src/hook/AgentHook.ts"
import * as HookAction from "../../../src/hook/HookAction.ts"
import { line } from "../../support/agent.ts"
import { asks, scripted } from "../../support/model.ts"

const screen = { name: "screen", description: "Shows the screen", inputSchema: { type: "object" } } as const

const answered = async (preTurn: NonNullable<AgentHook["preTurn"]>, output: string | { readonly pin: string }) => {
  const { provider } = scripted([asks(["screen", {}, "c"]), "done"])
  await using agent = createAgent({ provider, hooks: [{ name: "checks", preTurn }], log: false })
  const first = await agent.run({ message: "go", tools: [screen] })
  if (first.status !== "suspended") return assert.fail(first.status)
  return await agent.resume(first.snapshot, { c: { type: "respond", output } })
}

describe("the result of a tool that the client runs", () => {
  it("is shown to the hooks that check messages as a part of its own", async () => {
    const seen: Array<string> = []
    await answered(({ message, part }) => void seen.push(`${part ?? "message"}: ${message}`), { pin: "4711" })
    assert.include(seen, "result: {\"pin\":\"4711\"}")
    assert.strictEqual(seen.filter((one) => one.includes("4711")).length, 1)
  })

  it("is what the hooks made of it", async () => {
    const hide: NonNullable<AgentHook["preTurn"]> = (input) =>
      HookAction.transform({ ...input, message: input.message.replace("4711", "[PIN]") })
    assert.include(line((await answered(hide, "pin 4711")).messages), "tool screen: pin [PIN]")
    assert.include(line((await answered(hide, { pin: "4711" })).messages), "[PIN]")
  })

  it("ends the turn if a hook refuses it, and is replaced if a hook answers", async () => {
    const refused = await answered(({ part }) => part === "result" ? HookAction.abort("not this") : undefined, "4711")
    assert.strictEqual(refused.status, "aborted")
    assert.notInclude(line(refused.messages), "4711")
    const replaced = await answered(
      ({ part }) => part === "result" ? HookAction.respond({ text: "hidden" }) : undefined,
      "4711"
    )
    assert.include(line(replaced.messages), "tool screen: hidden")
  })
})
