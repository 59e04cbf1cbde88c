/** The guard of a driver decides as the runtime does, for random hooks and calls. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { createAgent } from "../../src/agent/createAgent.ts"
import { defineTool } from "../../src/agent/defineTool.ts"
import type { Json } from "../../src/data/Json.ts"
import type { Decision } from "../../src/data/RunState.ts"
import type { ToolResult } from "../../src/data/tool/Tool.ts"
import * as GuardSession from "../../src/guard/GuardSession.ts"
import { type AgentHook, defineHook } from "../../src/hook/AgentHook.ts"
import * as HookAction from "../../src/hook/HookAction.ts"
import { scripted } from "../support/model.ts"

const Rule = Schema.Struct({
  does: Schema.Literals(["nothing", "changes", "denies", "asks", "answers", "stops", "throws", "edits the result"]),
  kind: Schema.Literals(["advisory", "policy"]),
  priority: Schema.Literals([10, 100, 200]),
  isLate: Schema.Boolean
})
const Answer = Schema.Literals(["approve", "deny", "edit", "respond"])
type Case = {
  readonly rules: ReadonlyArray<typeof Rule.Type>
  readonly answers: ReadonlyArray<typeof Answer.Type>
}

const hookOf = ({ does, isLate, kind, priority }: typeof Rule.Type, index: number): AgentHook => {
  const name = `h${index}`
  const wait = async () => {
    if (isLate) await Promise.resolve()
  }
  return defineHook({
    name,
    kind,
    priority,
    preToolCall: async (call) => {
      await wait()
      switch (does) {
        case "changes":
          return HookAction.transform({ ...call, args: { ...Object(call.args), [name]: true } })
        case "denies":
          return HookAction.reject(`${name} denies`)
        case "asks":
          return HookAction.ask(`${name} asks`)
        case "answers":
          return HookAction.respond(`${name} answers`)
        case "stops":
          return HookAction.abort(`${name} stops`)
        case "throws":
          throw new Error(`${name} is broken`)
        default:
          return undefined
      }
    },
    postToolCall: ({ result }) =>
      does === "edits the result" && result.ok
        ? HookAction.transform({ ok: true, output: [name, result.output] })
        : undefined
  })
}

const decisionOf = (answer: typeof Answer.Type): Decision => {
  switch (answer) {
    case "approve":
      return { type: "approve", by: "ada" }
    case "deny":
      return { type: "deny", reason: "ada denies", by: "ada" }
    case "edit":
      return { type: "edit", args: { edited: true }, by: "ada" }
    case "respond":
      return { type: "respond", output: "ada answers", by: "ada" }
  }
}

/** What a person and a tool have seen, and how the call ended. */
interface Seen {
  readonly asked: Array<unknown>
  readonly ran: Array<Json>
  end: unknown
}

const onAskOf = (seen: Seen, answers: Case["answers"]) => {
  let at = 0
  return ({ args, reason }: { readonly args: Json; readonly reason: string }): Decision => {
    seen.asked.push([args, reason])
    return decisionOf(answers[at++ % Math.max(answers.length, 1)] ?? "approve")
  }
}

const inRuntime = async ({ answers, rules }: Case): Promise<Seen> => {
  const seen: Seen = { asked: [], ran: [], end: undefined }
  const act = defineTool({
    name: "act",
    description: "",
    input: { type: "object" },
    execute: (args) => {
      seen.ran.push(args as Json)
      return "done"
    }
  })
  await using agent = createAgent({
    provider: scripted([{ toolCalls: [{ id: "1", name: "act", args: { a: 1 } }] }, { text: "end" }]).provider,
    tools: [act],
    hooks: rules.map(hookOf),
    onAsk: onAskOf(seen, answers),
    log: false
  })
  const { messages, status, text } = await agent.run("go")
  const result = messages.find(({ role }) => role === "tool")
  seen.end = status === "aborted" ? { stop: text } : result?.role === "tool" ? result.content : undefined
  return seen
}

const inGuard = async ({ answers, rules }: Case): Promise<Seen> => {
  const seen: Seen = { asked: [], ran: [], end: undefined }
  const session = GuardSession.make({
    hooks: rules.map(hookOf),
    onAsk: onAskOf(seen, answers),
    tools: [{ name: "act", inputSchema: { type: "object" }, input: { type: "object" } }],
    log: false
  })
  await session.userMessage("go")
  const verdict = await session.callTool({ id: "1", name: "act", args: { a: 1 } }, (args) => {
    seen.ran.push(args)
    return "done"
  })
  const shown = (result: ToolResult) => result.ok ? result.output : result.error
  seen.end = verdict.type === "allow"
    ? shown(verdict.result)
    : verdict.type === "stop"
    ? { stop: verdict.reason }
    : verdict.type === "deny"
    ? verdict.reason
    : verdict
  return seen
}

describe("the guard of a driver", () => {
  it.effect.prop(
    "asks, runs, changes and refuses as the runtime does",
    [Schema.Array(Rule), Schema.Array(Answer)],
    ([rules, answers]) =>
      Effect.promise(async () => {
        const one = { rules: rules.slice(0, 5), answers }
        assert.deepStrictEqual(await inGuard(one), await inRuntime(one))
      })
  )
})
