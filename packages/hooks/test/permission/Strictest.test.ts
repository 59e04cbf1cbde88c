/** Answers that say nothing, and modes beside rules: the strictest reading counts. */
import type { AgentHook } from "@belay/core/AgentHook"
import type { JsonObject } from "@belay/core/Json"
import * as Approval from "@belay/hooks/Approval"
import * as PermissionRules from "@belay/hooks/PermissionRules"
import { testHook } from "@belay/testing/TestHook"
import { describe, it } from "vitest"

type Answer = "Continue" | "Reject" | "Ask"

const expect = (hook: AgentHook, name: string, args: JsonObject, answer: Answer) =>
  testHook(hook).given("preToolCall", { name, args }).expect(answer)

describe("`when` of Approval", () => {
  it.for([undefined, null, 0, "", true] as const)("that answers %s asks the person", async (answer) => {
    const hook = Approval.make({ tools: "*", when: () => answer as boolean })
    await expect(hook, "deploy", {}, "Ask")
  })

  it("that answers false lets the call run", async () => {
    await expect(Approval.make({ tools: "*", when: () => false }), "deploy", {}, "Continue")
  })
})

describe("plan mode", () => {
  it("rejects a call that changes something, also if an ask rule or an allow rule matches it", async () => {
    for (const rules of [{ ask: ["Write"] }, { allow: ["Write"] }, { ask: ["Write"], allow: ["Write"] }, {}]) {
      const hook = PermissionRules.make({ ...rules, permissionMode: "plan" })
      await expect(hook, "Write", { file_path: "a.txt", content: "x" }, "Reject")
    }
  })

  it("asks about a call that changes nothing, if an ask rule matches it", async () => {
    const hook = PermissionRules.make({ ask: ["Read"], permissionMode: "plan" })
    await expect(hook, "Read", { file_path: "a.txt" }, "Ask")
    const free = PermissionRules.make({ permissionMode: "plan" })
    await expect(free, "Read", { file_path: "a.txt" }, "Continue")
  })
})
