/** The guard inside Strands, with a model that is a script. Prints what the tools and the model got as JSON. */
import { defineHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import { Guard } from "@belay/guard"
import * as Strands from "@belay/guard/Strands"
import * as sdk from "@strands-agents/sdk"
import { z } from "zod"

const { Agent, Model, tool } = sdk
type StreamEvent = sdk.ModelStreamEvent

const ran: Array<string> = []
const send = tool({
  name: "send_mail",
  description: "Sends a mail",
  inputSchema: z.object({ to: z.string() }),
  callback: ({ to }) => {
    ran.push(to)
    return `sent ${to}, the pin is 4711`
  }
})

type Script = ReadonlyArray<ReadonlyArray<string>>

/** In each step, the model sends mails to these people. Then it says that it is done. */
class ScriptedModel extends Model {
  readonly read: Array<string> = []
  private readonly script: Script
  constructor(script: Script) {
    super()
    this.script = script
  }
  updateConfig() {}
  getConfig() {
    return { modelId: "demo" }
  }
  async *stream(messages: Array<sdk.Message>): AsyncGenerator<StreamEvent> {
    this.read.push(JSON.stringify(messages))
    const step = this.script[this.read.length - 1] ?? []
    yield { type: "modelMessageStartEvent", role: "assistant" }
    for (const to of step) {
      const start = { type: "toolUseStart" as const, name: "send_mail", toolUseId: `use-${to}` }
      yield { type: "modelContentBlockStartEvent", start }
      const delta = { type: "toolUseInputDelta" as const, input: JSON.stringify({ to }) }
      yield { type: "modelContentBlockDeltaEvent", delta }
      yield { type: "modelContentBlockStopEvent" }
    }
    if (step.length === 0) {
      yield { type: "modelContentBlockStartEvent" }
      yield { type: "modelContentBlockDeltaEvent", delta: { type: "textDelta", text: "done" } }
      yield { type: "modelContentBlockStopEvent" }
    }
    yield { type: "modelMessageStopEvent", stopReason: step.length === 0 ? "endTurn" : "toolUse" }
  }
}

const careful = defineHook({
  name: "careful",
  preTurn: ({ message }) => message === "bad" ? HookAction.reject("not here") : undefined,
  preToolCall: (call, ctx) => {
    const { to } = call.args as { readonly to: string }
    if (to === "eve") return HookAction.reject("no mails to eve")
    if (to === "bob") {
      ctx.inject("be careful")
      return HookAction.transform({ ...call, args: { to: "ann" } })
    }
    return to === "asked" ? HookAction.ask("really?") : undefined
  },
  postToolCall: ({ result }) =>
    result.ok ? HookAction.transform({ ok: true, output: String(result.output).replace("4711", "[pin]") }) : undefined
})

const start = (script: Script) => {
  const guarded = Strands.make(Guard.make({ hooks: [careful], log: false }), { approvedBy: "ada" })
  const model = new ScriptedModel(script)
  const agent = new Agent({ model, tools: [send], printer: false, plugins: [guarded.plugin(sdk)] })
  return { agent, model }
}

const one = start([["eve", "bob"], ["asked"]])
const first = await one.agent.invoke("go")
const asked = first.interrupts?.map(({ reason }) => reason)
const before = [...ran]
const answers = first.interrupts?.map(({ id }) => new sdk.InterruptResponseContent({ interruptId: id, response: true }))
const second = await one.agent.invoke(answers ?? [])
const bad = start([["x"]])
const refused = await bad.agent.invoke("bad").then(String, String)
console.log(JSON.stringify({
  asked,
  before,
  ran,
  answer: second.toString(),
  refused,
  models: bad.model.read.length,
  read: one.model.read.at(-1)
}))
