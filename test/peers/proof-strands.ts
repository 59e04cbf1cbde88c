/** Strands, with the guard of Belay or with its own hooks and interrupts. */
import { Guard } from "@belay/guard"
import * as Strands from "@belay/guard/Strands"
import * as sdk from "@strands-agents/sdk"
import { z } from "zod"
import { Absent, type Driver, type Setup, type Step } from "../../proof/driver.ts"

const { Agent, Model, tool } = sdk

let ids = 0

class ScriptedModel extends Model {
  private readonly script: Array<Step>
  constructor(script: ReadonlyArray<Step>) {
    super()
    this.script = [...script]
  }
  updateConfig() {}
  getConfig() {
    return { modelId: "demo" }
  }
  async *stream(): AsyncGenerator<sdk.ModelStreamEvent> {
    const step = this.script.shift() ?? { says: "done" }
    if ("fails" in step) throw new sdk.ModelThrottledError("busy")
    yield { type: "modelMessageStartEvent", role: "assistant" }
    for (const { args = {}, id = `c${++ids}`, name } of "says" in step ? [] : step.calls) {
      const start = { type: "toolUseStart" as const, name, toolUseId: id }
      yield { type: "modelContentBlockStartEvent", start }
      const delta = { type: "toolUseInputDelta" as const, input: JSON.stringify(args) }
      yield { type: "modelContentBlockDeltaEvent", delta }
      yield { type: "modelContentBlockStopEvent" }
    }
    if ("says" in step) {
      yield { type: "modelContentBlockStartEvent" }
      yield { type: "modelContentBlockDeltaEvent", delta: { type: "textDelta", text: step.says } }
      yield { type: "modelContentBlockStopEvent" }
    }
    yield { type: "modelMessageStopEvent", stopReason: "says" in step ? "endTurn" : "toolUse" }
  }
}

/** The way of the documentation: a hook that refuses a tool, and one that interrupts. */
const own = {
  name: "own",
  initAgent: (agent: InstanceType<typeof Agent>) => {
    agent.addHook(sdk.BeforeToolCallEvent, (event) => {
      if (event.toolUse.name === "leak") event.cancel = "not allowed"
      if (event.toolUse.name !== "mail") return
      if (event.interrupt({ name: "mail", reason: "a person decides about mails" }) !== true) event.cancel = "refused"
    })
  }
}

const agentOf = (
  setup: Setup,
  guarding: { readonly guard: Guard.Guard; readonly guarded: Strands.Strands } | undefined,
  script: ReadonlyArray<Step>,
  depth = 0
): InstanceType<typeof Agent> => {
  const { helpers = [], ran } = setup
  const inner = helpers[depth]
  const inputSchema = z.object({})
  const note = (text: string) => () => String(ran.push(text))
  const tools = [
    tool({ name: "leak", description: "Leaks", inputSchema, callback: note("leak") }),
    tool({ name: "read", description: "Reads", inputSchema, callback: note("read") }),
    tool({
      name: "mail",
      description: "Mails",
      inputSchema: z.object({ to: z.string() }),
      callback: ({ to }) => String(ran.push(`mail ${to}`))
    }),
    ...(inner === undefined ? [] : [tool({
      name: "helper",
      description: "Helps",
      inputSchema,
      callback: async (_input, context) => {
        const below = guarding === undefined ? undefined : {
          guard: guarding.guard,
          guarded: Strands.make(guarding.guard, {
            agent: "helper",
            parent: guarding.guarded.session,
            ...(context === undefined ? {} : { parentCall: context.toolUse.toolUseId })
          })
        }
        const result = await agentOf(setup, below, inner, depth + 1).invoke("help")
        await below?.guarded.session.end()
        return result.toString()
      }
    })])
  ]
  const plugins = [guarding === undefined ? own : guarding.guarded.plugin(sdk)]
  return new Agent({ id: "lead", model: new ScriptedModel(script), tools, printer: false, plugins })
}

export const driver: Driver = {
  name: "Strands",
  hasOwn: true,
  start: (setup) => {
    if (setup.handsOver === true) throw new Absent("its agents are tools or nodes of a graph")
    const { cancelAfterMs, guard: given, store } = setup
    const place = (script: ReadonlyArray<Step>) => {
      if (given === "own") return agentOf(setup, undefined, script)
      const guard = Guard.make({ hooks: given, log: false, ...(store === undefined ? {} : { store }) })
      return agentOf(setup, { guard, guarded: Strands.make(guard, { id: "proof", approvedBy: "ada" }) }, script)
    }
    const here = place(setup.script)
    const options = cancelAfterMs === undefined ? {} : { cancelSignal: AbortSignal.timeout(cancelAfterMs) }
    let asked: ReadonlyArray<string> = []
    return {
      send: async (text) => {
        const { interrupts = [] } = await here.invoke(text, options)
        asked = interrupts.map(({ id }) => id)
        return asked
      },
      approve: async ({ elsewhere = false, to } = {}) => {
        const agent = elsewhere ? place([{ says: "done" }]) : here
        if (elsewhere || to !== undefined) {
          const kept = JSON.stringify(here.takeSnapshot({ preset: "session" }))
          agent.loadSnapshot(JSON.parse(to === undefined ? kept : kept.replaceAll("\"ann\"", JSON.stringify(to))))
        }
        const answers = asked.map((interruptId) => new sdk.InterruptResponseContent({ interruptId, response: true }))
        if (answers.length > 0) await agent.invoke(answers).catch(() => {})
      }
    }
  }
}
