/** pi, with the guard of Belay or with an extension as its documentation has it. */
import { Guard } from "@belay/guard"
import * as Pi from "@belay/guard/Pi"
import { fauxAssistantMessage, fauxProvider, fauxToolCall } from "@earendil-works/pi-ai"
import {
  createAgentSession,
  DefaultResourceLoader,
  defineTool,
  type ExtensionAPI,
  type ExtensionUIContext,
  ModelRuntime,
  SessionManager,
  SettingsManager
} from "@earendil-works/pi-coding-agent"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Type } from "typebox"
import { Absent, type Driver, type Setup, type Step } from "../../proof/driver.ts"

const root = mkdtempSync(join(tmpdir(), "belay-pi-"))
process.on("exit", () => rmSync(root, { recursive: true, force: true }))

const answerOf = (step: Step) => {
  if ("fails" in step) return fauxAssistantMessage("", { stopReason: "error", errorMessage: "overloaded" })
  if ("says" in step) return fauxAssistantMessage(step.says)
  const calls = step.calls.map(({ args = {}, id, name }) => fauxToolCall(name, args, id === undefined ? {} : { id }))
  return fauxAssistantMessage(calls, { stopReason: "toolUse" })
}

const own = (pi: ExtensionAPI) => {
  pi.on("tool_call", async (event, context) => {
    if (event.toolName === "leak") return { block: true, reason: "not allowed" }
    if (event.toolName !== "mail" || await context.ui.confirm("Mail?", "a person decides about mails")) return undefined
    return { block: true, reason: "refused" }
  })
}

const toolsOf = (ran: Array<string>) => {
  const run = async (text: string) => {
    ran.push(text)
    return await Promise.resolve({ content: [{ type: "text" as const, text: "ok" }], details: {} })
  }
  const parameters = Type.Object({})
  return [
    defineTool({ name: "leak", label: "Leak", description: "Leaks", parameters, execute: () => run("leak") }),
    defineTool({ name: "read", label: "Read", description: "Reads", parameters, execute: () => run("read") }),
    defineTool({
      name: "mail",
      label: "Mail",
      description: "Mails",
      parameters: Type.Object({ to: Type.String() }),
      execute: (_id, { to }) => run(`mail ${to}`)
    })
  ]
}

const sessionOf = async (setup: Setup, ui: Partial<ExtensionUIContext>) => {
  const folder = mkdtempSync(join(root, "s-"))
  const faux = fauxProvider()
  const last = Array<Step>(4).fill({ says: "done" })
  faux.setResponses([...setup.script, ...last].map((step) => () => answerOf(step)))
  const modelRuntime = await ModelRuntime.create({
    authPath: join(folder, "auth.json"),
    modelsPath: join(folder, "models.json")
  })
  modelRuntime.registerNativeProvider(faux.provider)
  const extension = setup.guard === "own"
    ? own
    : Pi.make(Guard.make({ hooks: setup.guard, log: false }), { approvedBy: "ada" })
  const resourceLoader = new DefaultResourceLoader({ cwd: folder, agentDir: folder, extensionFactories: [extension] })
  await resourceLoader.reload()
  const { session } = await createAgentSession({
    cwd: folder,
    agentDir: folder,
    modelRuntime,
    model: faux.getModel(),
    thinkingLevel: "off",
    resourceLoader,
    tools: ["leak", "read", "mail"],
    customTools: toolsOf(setup.ran),
    sessionManager: SessionManager.inMemory(folder),
    settingsManager: SettingsManager.inMemory({ retry: { enabled: true, maxRetries: 2, baseDelayMs: 1 } })
  })
  // The guard and the extension of the documentation use only these two.
  await session.bindExtensions({ uiContext: { notify: () => {}, ...ui } as ExtensionUIContext, mode: "tui" })
  return session
}

export const driver: Driver = {
  name: "pi",
  hasOwn: true,
  start: (setup) => {
    if (setup.helpers !== undefined) throw new Absent("it has no other agents")
    if (setup.store !== undefined) throw new Absent("its questions do not outlive the process")
    // Hooks that pi cannot enforce are refused here, and not when the message is sent.
    if (setup.guard !== "own") Pi.make(Guard.make({ hooks: setup.guard, log: false }))
    let asked: (() => void) | undefined
    let answer: ((yes: boolean) => void) | undefined
    let running: Promise<unknown> = Promise.resolve()
    return {
      send: async (text) => {
        const opened = new Promise<void>((resolve) => asked = resolve)
        const confirm = async () =>
          await new Promise<boolean>((resolve) => {
            answer = resolve
            asked?.()
          })
        const session = await sessionOf(setup, { confirm })
        if (setup.cancelAfterMs !== undefined) setTimeout(() => void session.abort(), setup.cancelAfterMs)
        running = session.prompt(text)
        await Promise.race([running, opened])
        return answer === undefined ? [] : ["asked"]
      },
      approve: async ({ elsewhere = false, to } = {}) => {
        if (elsewhere || to !== undefined) throw new Absent("its questions do not outlive the process")
        const opened = new Promise<void>((resolve) => asked = resolve)
        answer?.(true)
        await Promise.race([running, opened])
      }
    }
  }
}
