/** Repeated calls in the SDKs that do not show what the model is asked: each call counts as a step of its own. */
import { LoopDetector } from "@belay/hooks"
import { assert, describe, it } from "@effect/vitest"
import { generateText, isStepCount, tool } from "ai"
import * as z from "zod"
import * as AiSdk from "../src/AiSdk.ts"
import * as ClaudeAgent from "../src/ClaudeAgent.ts"
import * as Guard from "../src/Guard.ts"
import * as OpenCode from "../src/OpenCode.ts"
import * as Pi from "../src/Pi.ts"
import * as Strands from "../src/Strands.ts"
import { firing } from "./support/claudeAgent.ts"
import { calls, scripted } from "./support/model.ts"
import { events as openCode } from "./support/openCode.ts"
import { events as pi } from "./support/pi.ts"
import { events as strands } from "./support/strands.ts"

/** Makes a call with this id and this result. Returns why it did not run. */
type Repeat = (id: string, result: string, isError?: boolean) => Promise<string | undefined>

const guard = (options: LoopDetector.Options = {}) =>
  Guard.make({ hooks: [LoopDetector.make(options)], allowUnguarded: ["loop-detector"], log: false })

const inStrands = async (given: Guard.Guard): Promise<Repeat> => {
  const { after, before, model } = strands(Strands.make(given))
  await model("go")
  return async (id, result, isError = false) => {
    const { cancel } = await before("look", { at: "x" }, id)
    if (cancel !== false) return String(cancel)
    await after("look", result, id, isError ? "error" : "success")
    return undefined
  }
}

const inClaudeAgent = async (given: Guard.Guard): Promise<Repeat> => {
  const fire = firing(ClaudeAgent.make(given).options({}))
  await fire("UserPromptSubmit", { prompt: "go" })
  return async (id, result, isError = false) => {
    const call = { tool_name: "look", tool_input: { at: "x" }, tool_use_id: id }
    const before = Object(await fire("PreToolUse", call)) as { readonly hookSpecificOutput?: object }
    const { permissionDecision, permissionDecisionReason } = Object(before.hookSpecificOutput) as Record<string, string>
    if (permissionDecision === "deny") return permissionDecisionReason
    if (isError) await fire("PostToolUseFailure", { ...call, error: result })
    else await fire("PostToolUse", { ...call, tool_response: result })
    return undefined
  }
}

const inPi = async (given: Guard.Guard): Promise<Repeat> => {
  const fire = pi(Pi.make(given))
  await fire("input", { text: "go" })
  return async (id, text, isError = false) => {
    const call = { toolName: "look", toolCallId: id, input: { at: "x" } }
    const { reason } = Object(await fire("tool_call", call)) as { readonly reason?: string }
    if (reason === undefined) await fire("tool_result", { ...call, content: [{ type: "text", text }], isError })
    return reason
  }
}

const inOpenCode = async (given: Guard.Guard): Promise<Repeat> => {
  const { after, before, message, reads } = openCode(await OpenCode.make(given)(openCode.input))
  await message("go")
  return async (id, output, isError = false) => {
    const refused = await before("look", { at: "x" }, id).then(() => undefined, String)
    if (refused !== undefined) return refused
    if (isError) await reads("look", id, output)
    else await after("look", { output }, id)
    return undefined
  }
}

const adapters = [
  ["Strands", inStrands],
  ["the Claude Agent SDK", inClaudeAgent],
  ["pi", inPi],
  ["opencode", inOpenCode]
] as const

/** Returns what happened to so many equal calls. */
const repeated = async (repeat: Repeat, times: number, result: (index: number) => string, isError = false) => {
  const refused: Array<string | undefined> = []
  for (let index = 0; index < times; index++) refused.push(await repeat(`call-${index}`, result(index), isError))
  return refused
}

describe.each(adapters)("LoopDetector in %s", (_name, start) => {
  it("blocks equal calls with the same result, and then ends the turn", async () => {
    const refused = await repeated(await start(guard()), 9, () => "nothing")
    assert.deepStrictEqual(refused.slice(0, 4), [undefined, undefined, undefined, undefined])
    assert.match(refused[4]!, /Change strategy/)
    assert.match(refused[8]!, /turn was stopped/)
  })

  it("blocks equal calls that fail with the same error", async () => {
    const refused = await repeated(await start(guard()), 4, () => "no such host", true)
    assert.deepStrictEqual(refused.slice(0, 3), [undefined, undefined, undefined])
    assert.match(refused[3]!, /failing/)
  })

  it("lets equal calls with new results run", async () => {
    const refused = await repeated(await start(guard()), 12, String)
    assert.deepStrictEqual(refused.filter((reason) => reason !== undefined), [])
  })
})

describe("LoopDetector in the AI SDK", () => {
  it("blocks as many equal calls as where each call is a step of its own", async () => {
    let ran = 0
    const guarded = AiSdk.make(guard())
    const script = Array.from({ length: 6 }, () => calls(["look", { at: "x" }]))
    const look = tool({ inputSchema: z.object({ at: z.string() }), execute: () => `${ran++ < 0}` })
    const settings = { model: scripted(...script), tools: { look }, stopWhen: isStepCount(7), prompt: "go" }
    await generateText(guarded.settings(settings))
    assert.strictEqual(ran, 4)
  })
})
