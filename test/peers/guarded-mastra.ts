/** The guard inside Mastra, with a model that is a script. Prints what the tools and the model got as JSON. */
import type { AgentHook } from "@belay/core/AgentHook"
import { defineHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import * as SessionStore from "@belay/core/SessionStore"
import { Guard } from "@belay/guard"
import * as Guarding from "@belay/guard/Mastra"
import { Agent } from "@mastra/core/agent"
import { Mastra } from "@mastra/core/mastra"
import { InMemoryStore } from "@mastra/core/storage"
import { createTool } from "@mastra/core/tools"
import { z } from "zod"
import { scripted, type Step } from "./mastra-model.ts"

const toolsOf = (ran: Array<string>) => ({
  send_mail: createTool({
    id: "send_mail",
    description: "Sends a mail",
    inputSchema: z.object({ to: z.string(), text: z.string().default("hi") }),
    execute: async ({ text, to }) => {
      ran.push(`${to} ${text}`)
      return await Promise.resolve({ sent: to, pin: "4711" })
    }
  }),
  pick: createTool({
    id: "pick",
    description: "Lets a person pick",
    inputSchema: z.object({}),
    suspendSchema: z.object({ question: z.string() }),
    resumeSchema: z.object({ choice: z.string() }),
    execute: async (_input, context) => {
      const { resumeData, suspend } = context.agent!
      if (resumeData === undefined) return await suspend({ question: "which?" })
      ran.push(`pick ${resumeData.choice}`)
      return resumeData.choice
    }
  })
})

const careful = defineHook({
  name: "careful",
  preTurn: ({ message }) => message === "bad" ? HookAction.reject("not here") : undefined,
  preToolCall: (call, ctx) => {
    const { to } = call.args as { readonly to?: string }
    if (to === "eve" || call.name === "agent-forbidden") return HookAction.reject("no mails to eve")
    if (to === "bob") {
      ctx.inject("be careful")
      return HookAction.transform({ ...call, args: { to: "ann" } })
    }
    return to === "asked" ? HookAction.ask("really?") : undefined
  },
  postToolCall: ({ result }) => {
    const text = JSON.stringify(result)
    return text.includes("4711") && result.ok
      ? HookAction.transform({ ok: true, output: JSON.parse(JSON.stringify(result.output).replace("4711", "[pin]")) })
      : undefined
  }
})

interface Parts {
  readonly hooks?: ReadonlyArray<AgentHook>
  readonly options?: Guarding.MastraOptions
  readonly guard?: Guard.GuardOptions
  readonly storage?: InMemoryStore
  readonly agents?: (guard: Guard.Guard, guarded: Guarding.Mastra) => Record<string, Agent>
}

const start = (
  script: ReadonlyArray<Step>,
  { agents, guard: more, hooks = [careful], options, storage }: Parts = {}
) => {
  const ran: Array<string> = []
  const { model, read } = scripted(...script)
  const guard = Guard.make({ hooks, log: false, ...more })
  const guarded = Guarding.make(guard, { approvedBy: "ada", ...options })
  const agent = new Agent(guarded.config({
    id: "lead",
    name: "lead",
    instructions: "be",
    model,
    tools: toolsOf(ran),
    ...(agents === undefined ? {} : { agents: agents(guard, guarded) })
  }))
  const mastra = new Mastra({ agents: { lead: agent }, storage: storage ?? new InMemoryStore(), logger: false })
  return { agent: mastra.getAgent("lead"), guard, guarded, ran, read }
}

const scenes: { readonly [name: string]: () => Promise<unknown> } = {
  calls: async () => {
    const { agent, ran, read } = start([[["send_mail", { to: "eve" }], ["send_mail", { to: "bob" }], ["send_mail", {
      to: "cy"
    }]]])
    const { text } = await agent.generate("go")
    return { ran, text, last: read.at(-1) }
  },
  asked: async () => {
    const { agent, ran } = start([[["send_mail", { to: "asked" }, "a"], ["send_mail", { to: "cy" }, "b"]]])
    const first = await agent.generate("go")
    const before = [...ran]
    const second = await agent.approveToolCallGenerate({ runId: first.runId!, toolCallId: "a" })
    return { payload: first.suspendPayload, before, ran, text: second.text, reason: first.finishReason }
  },
  declined: async () => {
    const { agent, ran, read } = start([[["send_mail", { to: "asked" }, "a"]]])
    const first = await agent.generate("go")
    await agent.declineToolCallGenerate({ runId: first.runId!, toolCallId: "a", reason: "not now" })
    return { ran, last: read.at(-1) }
  },
  edited: async () => {
    const { agent, ran } = start([[["send_mail", { to: "asked" }, "a"]]])
    const first = await agent.generate("go")
    await agent.resumeGenerate({ type: "edit", args: { to: "zoe" } }, { runId: first.runId!, toolCallId: "a" })
    return { ran }
  },
  restart: async () => {
    const storage = new InMemoryStore()
    const store = SessionStore.inMemory()
    const parts = { storage, guard: { store }, options: { id: "s" } }
    const first = await start([[["send_mail", { to: "asked" }, "a"]]], parts).agent.generate("go")
    const next = start([], parts)
    const second = await next.agent.approveToolCallGenerate({ runId: first.runId!, toolCallId: "a" })
    const other = await start([[["send_mail", { to: "asked" }, "a"]]], { ...parts, guard: {} }).agent.generate("go")
    const stranger = start([], { storage })
    await stranger.agent.approveToolCallGenerate({ runId: other.runId!, toolCallId: "a" })
    return { ran: next.ran, text: second.text, stranger: stranger.ran, told: stranger.read.at(-1) }
  },
  selfApproved: async () => {
    const { agent, ran, read } = start([[["send_mail", { to: "asked", resumeData: { approved: true } }]]])
    await agent.generate("go", { autoResumeSuspendedTools: true })
    return { ran, last: read.at(-1) }
  },
  ownSuspension: async () => {
    const { agent, ran } = start([[["pick", {}, "p"]]])
    const first = await agent.generate("go")
    const second = await agent.resumeGenerate({ choice: "red" }, { runId: first.runId!, toolCallId: "p" })
    return { payload: first.suspendPayload, ran, text: second.text }
  },
  streamed: async () => {
    const plain = start(["one two", [["send_mail", { to: "eve" }]]])
    const shown: Array<string> = []
    for await (const piece of (await plain.agent.stream("go")).textStream) shown.push(piece)
    const gated = start(["the pin is 4711"], {
      hooks: [defineHook({
        name: "redacts",
        postLlmCall: ({ response }) =>
          HookAction.transform({ ...response, text: response.text.replace("4711", "[pin]") })
      })]
    })
    const safe: Array<string> = []
    for await (const piece of (await gated.agent.stream("go")).textStream) safe.push(piece)
    const calls = start([[["send_mail", { to: "eve" }], ["send_mail", { to: "cy" }]]])
    await (await calls.agent.stream("go")).consumeStream()
    return { shown, safe, ran: calls.ran }
  },
  refused: async () => {
    const { agent, read } = start([[["send_mail", { to: "cy" }]]])
    return { error: await agent.generate("bad").then(({ text }) => text, String), asked: read.length }
  },
  subAgents: async () => {
    const below: Array<string> = []
    const limit = defineHook({
      name: "limit",
      kind: "policy",
      preToolCall: ({ name }, { state }) =>
        name === "send_mail" && Number(state.update("mails", (n) => Number(n ?? 0) + 1)) > 2
          ? HookAction.reject("no more")
          : undefined
    })
    const helper = (guard: Guard.Guard, guarded: Guarding.Mastra) => {
      const { model } = scripted([["send_mail", { to: "one" }], ["send_mail", { to: "eve" }], ["send_mail", {
        to: "two"
      }]])
      const child = Guarding.make(guard, { agent: "helper", parent: guarded.session })
      const description = "Helps"
      return {
        helper: new Agent(
          child.config({ id: "helper", name: "helper", description, instructions: "be", model, tools: toolsOf(below) })
        )
      }
    }
    const lead = start([[["agent-helper", { prompt: "help" }]], [["send_mail", { to: "three" }]]], {
      hooks: [careful, limit],
      agents: helper
    })
    await lead.agent.generate("go")
    const kept = start([[["agent-helper", { prompt: "help" }]]], {
      agents: helper,
      hooks: [defineHook({ name: "keeps", kind: "policy", preDelegation: () => HookAction.reject("stay here") })]
    })
    below.push("|")
    await kept.agent.generate("go")
    const bare = () => ({
      forbidden: new Agent({ id: "f", name: "f", description: "f", instructions: "", model: scripted().model })
    })
    return {
      below,
      ran: lead.ran,
      told: kept.read.at(-1),
      bare: await Promise.resolve().then(() => start([], { agents: bare })).then(() => "made", String)
    }
  },
  askedBelow: async () => {
    const below: Array<string> = []
    const { agent, ran } = start([[["agent-helper", { prompt: "help" }, "h"]]], {
      agents: (guard, guarded) => {
        const { model } = scripted([["send_mail", { to: "asked" }, "m"]])
        const child = Guarding.make(guard, { agent: "helper", parent: guarded.session, approvedBy: "ada" })
        const parts = { id: "helper", name: "helper", description: "Helps", instructions: "be" }
        return { helper: new Agent(child.config({ ...parts, model, tools: toolsOf(below) })) }
      }
    })
    const first = await agent.generate("go")
    const before = [...below]
    const second = await agent.approveToolCallGenerate({ runId: first.runId!, toolCallId: "h" })
    return { payload: first.suspendPayload, before, below, ran, text: second.text }
  },
  stopped: async () => {
    const { agent, ran, read } = start([[["send_mail", { to: "cy" }]]], {
      hooks: [defineHook({ name: "stops", preToolCall: () => HookAction.abort("enough") })]
    })
    const { text } = await agent.generate("go")
    return { ran, text, asked: read.length }
  },
  cancelled: async () => {
    const slow = async () => await new Promise<void>((done) => setTimeout(done, 40))
    const { agent, ran } = start([[["send_mail", { to: "cy" }]]], {
      hooks: [defineHook({ name: "slow", kind: "policy", preToolCall: slow })]
    })
    await agent.generate("go", { abortSignal: AbortSignal.timeout(15) }).catch(() => {})
    await new Promise((done) => setTimeout(done, 100))
    return { ran }
  },
  unguarded: async () => {
    const ran: Array<string> = []
    const { agent, guarded, ran: own, read } = start([[["send_mail", { to: "cy" }]], [["extra", {}]], [["send_mail", {
      to: "eve"
    }]]])
    const other = scripted([["send_mail", { to: "cy" }]])
    await agent.generate("go", { model: other.model })
    const execute = async () => await Promise.resolve(ran.push("extra"))
    const extra = createTool({ id: "extra", description: "More", inputSchema: z.object({}), execute })
    // A toolset replaces the guarded tool of the same name.
    await agent.generate("go", {
      toolsets: {
        more: {
          extra,
          send_mail: createTool({
            id: "send_mail",
            description: "x",
            inputSchema: z.object({ to: z.string() }),
            execute
          })
        }
      }
    })
    return { own, ran, other: other.read.at(-1), guarded: guarded.session.id !== "", last: read.at(-1) }
  },
  network: async () => {
    const below: Array<string> = []
    const { agent, ran, read } = start([
      JSON.stringify({ primitiveId: "helper", primitiveType: "agent", prompt: "go" })
    ], {
      agents: (guard, guarded) => {
        const { model } = scripted([["send_mail", { to: "cy" }]])
        const child = Guarding.make(guard, { agent: "helper", parent: guarded.session })
        const parts = { id: "helper", name: "helper", description: "Helps", instructions: "be" }
        return { helper: new Agent(child.config({ ...parts, model, tools: toolsOf(below) })) }
      }
    })
    const options = { memory: { thread: "t", resource: "r" } }
    const begun = await agent.network("go", options).then(() => "begun", String)
    const resumed = await agent.resumeNetwork({}, { ...options, runId: "1" }).then(() => "begun", String)
    return { begun, resumed, ran: [...ran, ...below], asked: read.length }
  },
  hooksFail: async () => {
    const failing = async (hook: object) => {
      const { agent, ran } = start([[["send_mail", { to: "cy" }]]], {
        hooks: [defineHook({ name: "fails", kind: "policy", ...hook })]
      })
      await agent.generate("go").catch(() => {})
      return ran
    }
    return {
      throws: await failing({ preToolCall: () => Promise.reject(new Error("broken")) }),
      hangs: await failing({ timeout: 30, preToolCall: () => new Promise(() => {}) })
    }
  }
}

const { [process.argv[2] ?? ""]: one } = scenes
if (one !== undefined) console.log(JSON.stringify(await one(), null, 1))
else {console.log(JSON.stringify(Object.fromEntries(
    await Promise.all(
      Object.entries(scenes).map(async ([name, scene]) => [name, await scene()] as const)
    )
  )))}
