/**
 * What an agent has to do on every runtime. It runs against an endpoint with the answers of `answers.ts`, in the order
 * of the checks, and uses nothing of a runtime but what all of them have.
 */
import { agentTool, createAgent, defineHook, defineTool, HookAction, RunState } from "@belay/core"
import * as Approvals from "@belay/core/Approvals"
import * as Approval from "@belay/hooks/Approval"
import * as Budget from "@belay/hooks/Budget"
import * as CostTracker from "@belay/hooks/CostTracker"
import * as InputGuardrail from "@belay/hooks/InputGuardrail"
import * as LoopDetector from "@belay/hooks/LoopDetector"
import * as ModelRetry from "@belay/hooks/ModelRetry"
import * as OutputGuardrail from "@belay/hooks/OutputGuardrail"
import * as ProviderFallback from "@belay/hooks/ProviderFallback"
import * as ToolCallLimit from "@belay/hooks/ToolCallLimit"
import * as OpenAiCompatible from "@belay/providers/OpenAiCompatible"
import * as Schema from "effect/Schema"

/** One check: its name, and what was wrong if it failed. */
export interface Outcome {
  readonly name: string
  readonly problem?: string
}

const same = (found: unknown, expected: unknown): void => {
  const [is, wanted] = [JSON.stringify(found), JSON.stringify(expected)]
  if (is !== wanted) throw new Error(`expected ${wanted}, found ${is}`)
}

const add = defineTool({
  name: "add",
  description: "Adds two numbers",
  input: Schema.Struct({ a: Schema.Finite, b: Schema.Finite }),
  execute: ({ a, b }) => a + b
})

const checksFor = (url: string): { readonly [name: string]: () => Promise<void> } => {
  const provider = OpenAiCompatible.make({ baseUrl: url, apiKey: "sk-not-a-real-key", model: "m" })
  return {
    "answers": async () => {
      await using agent = createAgent({ provider })
      const { text, usage } = await agent.run("hello")
      same([text, usage.inputTokens > 0], ["hello to you, é 😀", true])
    },
    "streams": async () => {
      await using agent = createAgent({ provider })
      const stream = agent.stream("tell me")
      const parts: Array<string> = []
      for await (const event of stream) if (event.type === "text-delta") parts.push(event.text)
      same([parts.join(""), parts.length > 3, (await stream.result).text], ["a long story, ü", true, "a long story, ü"])
    },
    "calls tools": async () => {
      await using agent = createAgent({ provider, tools: [add] })
      same((await agent.run("2 + 3?")).text, "it is 5")
    },
    "lets hooks decide": async () => {
      const guard = defineHook({ name: "guard", preToolCall: () => HookAction.reject("no sums today") })
      const shout = defineHook({
        name: "shout",
        postTurn: ({ output }) => HookAction.transform({ ...output, text: output.text.toUpperCase() })
      })
      await using agent = createAgent({ provider, tools: [add], hooks: [guard, shout] })
      same((await agent.run("2 + 3?")).text, "I MAY NOT")
    },
    "retries and falls back": async () => {
      const broken = OpenAiCompatible.make({
        baseUrl: url,
        apiKey: "sk-not-a-real-key",
        model: "broken",
        name: "broken"
      })
      await using agent = createAgent({
        provider: [broken, provider],
        hooks: [ModelRetry.make({ maxRetries: 1, initialDelayMs: 1 }), ProviderFallback.make({})]
      })
      same((await agent.run("hello")).text, "from the second one")
    },
    "suspends, and resumes what was signed": async () => {
      const keys = [{ id: "k1", secret: "not-a-real-secret-not-a-real-secret" }] as const
      const make = () =>
        createAgent({ provider, tools: [add], hooks: [Approval.make({ tools: "add" })], approvals: { keys } })
      await using first = make()
      const asked = await first.run("2 + 3?")
      if (asked.status !== "suspended") throw new Error(`expected a question, found ${asked.status}`)
      const snapshot: unknown = JSON.parse(JSON.stringify(asked.snapshot))
      await using second = make()
      const result = await second.resume(snapshot as RunState.RunState, {
        [asked.pending[0]!.callId]: await Approvals.sign(keys[0], {
          sessionId: asked.sessionId,
          turnNumber: asked.turnNumber,
          ask: asked.pending[0]!
        }, { type: "approve" })
      })
      same(result.text, "approved: 5")
    },
    "delegates": async () => {
      const helper = createAgent({ name: "helper", provider })
      await using agent = createAgent({
        provider,
        tools: [agentTool({ name: "ask_helper", description: "Asks", agent: helper })]
      })
      same((await agent.run("ask")).text, "the helper says hi")
    },
    "decodes an answer with a schema": async () => {
      await using agent = createAgent({ provider, output: { schema: Schema.Struct({ city: Schema.String }) } })
      const result = await agent.run("where?")
      same(result.status === "completed" ? result.object : result.status, { city: "Bern" })
    },
    "is cancelled": async () => {
      await using agent = createAgent({ provider })
      const cancel = new AbortController()
      const running = agent.run("slow", { signal: cancel.signal })
      setTimeout(() => cancel.abort(), 20)
      const { status } = await running.catch((error: unknown) => ({ status: String(Object(error).name) }))
      same(status, "AbortError")
    },
    "keeps limits": async () => {
      const prices = { costPerInputToken: 0.001, costPerOutputToken: 0.001 }
      await using agent = createAgent({
        provider,
        tools: [add],
        hooks: [
          InputGuardrail.make({ patterns: ["forbidden"] }),
          OutputGuardrail.make({ patterns: ["sk-[a-z]{8,}"] }),
          LoopDetector.make({}),
          ToolCallLimit.make({ perTurn: 1 }),
          CostTracker.make(prices),
          Budget.make({ ...prices, limits: [{ scope: "session", calls: 2 }] })
        ]
      })
      await using session = await agent.session({ id: "s" })
      same((await session.run("2 + 3, twice?")).text, "only once")
      const blocked = await session.run("forbidden").catch((error: unknown) => String(Object(error)._tag))
      same(blocked, "HookRejected")
      const spent = await session.run("again").catch((error: unknown) => String(Object(error).hook))
      same(spent, "budget")
    }
  }
}

/** Makes every check, one after another. */
export const suite = async (url: string): Promise<ReadonlyArray<Outcome>> => {
  const outcomes: Array<Outcome> = []
  for (const [name, check] of Object.entries(checksFor(url))) {
    try {
      await check()
      outcomes.push({ name })
    } catch (error) {
      outcomes.push({ name, problem: error instanceof Error ? `${error.message}\n${error.stack}` : String(error) })
    }
  }
  return outcomes
}
