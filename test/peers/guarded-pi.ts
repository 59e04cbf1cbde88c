/** The guard inside pi, with a model that is a script. Prints what the tools and the model got as JSON. */
import type { AgentHook } from "@belay/core/AgentHook"
import { defineHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import { Guard } from "@belay/guard"
import * as Pi from "@belay/guard/Pi"
import { fauxAssistantMessage, fauxProvider, fauxToolCall } from "@earendil-works/pi-ai"
import {
  createAgentSession,
  DefaultResourceLoader,
  defineTool,
  type ExtensionUIContext,
  ModelRuntime,
  SessionManager,
  SettingsManager
} from "@earendil-works/pi-coding-agent"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Type } from "typebox"

type Step = string | ReadonlyArray<readonly [name: string, args: Record<string, string>]>

interface Parts {
  readonly hooks?: ReadonlyArray<AgentHook>
  /** What the person says to questions. Without it, nobody is there. */
  readonly confirms?: boolean
}

const folder = mkdtempSync(join(tmpdir(), "belay-pi-"))
process.on("exit", () => rmSync(folder, { recursive: true, force: true }))

/** In each step, the model says something or calls tools. Then it says that it is done. */
const start = async (script: ReadonlyArray<Step>, { confirms, hooks = [careful] }: Parts = {}) => {
  const ran: Array<string> = []
  const read: Array<string> = []
  const shown: Array<string> = []
  const faux = fauxProvider()
  faux.setResponses([...script, "done", "done", "done"].map((step) => (context) => {
    read.push(JSON.stringify(context.messages.filter(({ role }) => role !== "system")))
    return typeof step === "string"
      ? fauxAssistantMessage(step)
      : fauxAssistantMessage(step.map(([name, args]) => fauxToolCall(name, args)), { stopReason: "toolUse" })
  }))
  const modelRuntime = await ModelRuntime.create({
    authPath: join(folder, "auth.json"),
    modelsPath: join(folder, "models.json")
  })
  modelRuntime.registerNativeProvider(faux.provider)
  const mail = defineTool({
    name: "send_mail",
    label: "Mail",
    description: "Sends a mail",
    parameters: Type.Object({ to: Type.String() }),
    execute: async (_id, { to }) => {
      ran.push(to)
      return await Promise.resolve({ content: [{ type: "text", text: `sent ${to}, the pin is 4711` }], details: {} })
    }
  })
  const nested = defineTool({
    name: "batch",
    label: "Batch",
    description: "Calls another tool",
    parameters: Type.Object({}),
    execute: async (_id, _args, signal, _update, context) => {
      const result = await context.executeTool("send_mail", { to: "eve" }, signal === undefined ? {} : { signal })
      return result.result
    }
  })
  const guard = Guard.make({ hooks, log: false })
  const resourceLoader = new DefaultResourceLoader({
    cwd: folder,
    agentDir: folder,
    extensionFactories: [Pi.make(guard, { approvedBy: "ada" })]
  })
  await resourceLoader.reload()
  const { session } = await createAgentSession({
    cwd: folder,
    agentDir: folder,
    modelRuntime,
    model: faux.getModel(),
    thinkingLevel: "off",
    resourceLoader,
    tools: ["send_mail", "batch"],
    customTools: [mail, nested],
    sessionManager: SessionManager.inMemory(folder),
    settingsManager: SettingsManager.inMemory()
  })
  const uiContext = {
    confirm: async (title: string, text: string) => {
      shown.push(`${title} ${text.split("\n", 1)[0]}`)
      return await Promise.resolve(confirms === true)
    },
    notify: (text: string) => void shown.push(text)
    // The guard uses only these two.
  } as Partial<ExtensionUIContext> as ExtensionUIContext
  await session.bindExtensions(confirms === undefined ? {} : { uiContext, mode: "tui" })
  return { session, ran, read, shown }
}

const careful = defineHook({
  name: "careful",
  preTurn: (input, ctx) => {
    if (input.message === "bad") return HookAction.reject("not here")
    ctx.inject("be quick")
    return input.message === "4711" ? HookAction.transform({ ...input, message: "[pin]" }) : undefined
  },
  preToolCall: (call, ctx) => {
    const { to } = call.args as { readonly to?: string }
    if (to === "eve") return HookAction.reject("no mails to eve")
    if (to === "bob") {
      ctx.inject("be careful")
      return HookAction.transform({ ...call, args: { to: "ann" } })
    }
    return to === "asked" ? HookAction.ask("really?") : undefined
  },
  postToolCall: ({ result }) =>
    result.ok && String(result.output).includes("4711")
      ? HookAction.transform({ ok: true, output: String(result.output).replace("4711", "[pin]") })
      : undefined
})

const scenes: { readonly [name: string]: () => Promise<unknown> } = {
  calls: async () => {
    const { ran, read, session } = await start([
      [["send_mail", { to: "eve" }], ["send_mail", { to: "bob" }], ["send_mail", { to: "cy" }]],
      [["batch", {}]]
    ])
    await session.prompt("go")
    return { ran, last: read.at(-1) }
  },
  asked: async () => {
    const ask = async (confirms: boolean | undefined) => {
      const { ran, read, session, shown } = await start(
        [[["send_mail", { to: "asked" }]]],
        confirms === undefined ? {} : { confirms }
      )
      await session.prompt("go")
      return { ran, shown, last: read.at(-1) }
    }
    return { yes: await ask(true), no: await ask(false), nobody: await ask(undefined) }
  },
  messages: async () => {
    const { read, session, shown } = await start([], { confirms: true })
    await session.prompt("bad")
    const before = read.length
    await session.prompt("4711")
    return { before, shown, last: read.at(-1) }
  },
  goesOn: async () => {
    const { read, session } = await start(["one", "two"], {
      hooks: [defineHook({
        name: "more",
        preStop: ({ text }, ctx) => {
          if (text === "one") ctx.followUp("more")
        }
      })]
    })
    await session.prompt("go")
    return { asked: read.length, last: read.at(-1) }
  },
  failing: async () => {
    const failing = async (hook: object) => {
      const { ran, read, session } = await start([[["send_mail", { to: "cy" }]]], {
        hooks: [defineHook({ name: "fails", kind: "policy", ...hook })]
      })
      await session.prompt("go")
      return { ran, asked: read.length }
    }
    return {
      throws: await failing({ preToolCall: () => Promise.reject(new Error("broken")) }),
      hangs: await failing({ timeout: 30, preToolCall: () => new Promise(() => {}) }),
      stops: await failing({ preToolCall: () => HookAction.abort("enough") }),
      noTurn: await failing({ preTurn: () => Promise.reject(new Error("broken")) })
    }
  },
  cancelled: async () => {
    const slow = async () => await new Promise<void>((done) => setTimeout(done, 40))
    const { ran, session } = await start([[["send_mail", { to: "cy" }]]], {
      hooks: [defineHook({ name: "slow", kind: "policy", preToolCall: slow })]
    })
    const running = session.prompt("go")
    setTimeout(() => void session.abort(), 15)
    await running.catch(() => {})
    await new Promise((done) => setTimeout(done, 80))
    return { ran }
  }
}

const { [process.argv[2] ?? ""]: one } = scenes
const all: Record<string, unknown> = {}
if (one !== undefined) all["one"] = await one()
else for (const [name, scene] of Object.entries(scenes)) all[name] = await scene()
console.log(JSON.stringify(all))
process.exit()
