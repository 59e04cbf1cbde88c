/** A host with an agent of the tests, on a SQLite file. */
import { type AgentConfig } from "@belay/core/AgentConfig"
import { createAgent } from "@belay/core/createAgent"
import { defineTool } from "@belay/core/defineTool"
import * as HookAction from "@belay/core/HookAction"
import { textResponse } from "@belay/core/LlmCall"
import { fromPromise, type LlmProvider } from "@belay/core/LlmProvider"
import { text } from "@belay/core/Message"
import * as SqliteStore from "@belay/providers/SqliteStore"
import * as Host from "@belay/server/Host"
import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** Milliseconds between two looks of the hosts in tests. */
export const pollMs = 20

export const newFile = (): string => join(mkdtempSync(join(tmpdir(), "belay-host-")), "store.db")

/** What a promise rejects with. */
export const failure = async (promise: PromiseLike<unknown>): Promise<{ readonly [field: string]: unknown }> =>
  Object(await promise.then(() => ({ problem: "it did not fail" }), (error: unknown) => error))

/** A promise and its resolver. */
export const gate = () => {
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => open = resolve)
  return { opened, open: () => open() }
}

/**
 * A model that reads its plan from the last message that is not of a tool: `a, b` calls the tools a and b, one a step,
 * and any other message is answered with `re: ` and its text.
 */
export const planner = (before: () => Promise<unknown> = async () => {}): LlmProvider =>
  fromPromise({
    name: "planner",
    complete: async ({ messages }) => {
      await before()
      const from = messages.findLastIndex((message) =>
        message.role === "user" && message.key !== undefined &&
        text(message).startsWith("do ")
      )
      const start = messages.findLastIndex(({ role }) => role === "user")
      if (
        from < 0 ||
        (start > from &&
          messages.slice(from, start).some(({ role, content }) => role === "assistant" && content !== ""))
      ) {
        return textResponse(`re: ${messages.slice(start).map(text).join()}`)
      }
      const plan = text(messages[from]!).slice(3).split(", ")
      const done = messages.slice(from).filter(({ role }) => role === "tool").length
      const next = plan[done]
      const steered = messages.slice(from + 1).flatMap((message) => message.role === "user" ? [text(message)] : [])
      if (next === undefined) return textResponse(["did", ...plan, ...steered].join(" "))
      return {
        ...textResponse(""),
        finishReason: "tool-calls",
        toolCalls: [{ id: `c${messages.length}`, name: next, args: next === "help" ? { message: "please" } : {} }]
      }
    }
  })

/** A tool that notes its calls. */
export const tool = (
  name: string,
  log: Array<string> | { readonly push: (line: string) => unknown },
  during: () => unknown = () => undefined,
  idempotent = false
) =>
  defineTool({
    name,
    description: name,
    input: { type: "object" },
    ...(idempotent ? { idempotent } : {}),
    execute: async (_, { idempotencyKey }) => {
      log.push(`${name} ${idempotencyKey}`)
      await during()
      return `${name} done`
    }
  })

/** Asks people about the tool `danger`. */
export const asking = { name: "gate", tools: "danger", preToolCall: () => HookAction.ask("really?") }

/** Opens the store, an agent and a host, as a process would. */
export const hosted = (
  path: string,
  config: Partial<AgentConfig> = {},
  options: Partial<Host.Options> = {}
) => {
  const store = SqliteStore.make({ path })
  const agent = createAgent({ provider: planner(), store: store.sessions, log: false, ...config })
  const host = Host.make({ agent, store, pollMs, ...options })
  const close = async () => {
    await agent.close()
    store.close()
  }
  return { store, agent, host, close }
}
