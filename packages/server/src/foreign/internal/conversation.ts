/**
 * A running foreign agent: its process, its session, and what it waits for. The agent works on its own; what it asks
 * for is collected, and `next` returns it in the order in which it came.
 */
import type { ContentBlock, SessionUpdate, ToolCallUpdate } from "@agentclientprotocol/sdk"
import type { JsonObject } from "@belay/core/Json"
import type { ToolCall } from "@belay/core/Message"
import { spawn } from "node:child_process"
import { Readable, Writable } from "node:stream"
import { actionOf, lineOf } from "./actions.ts"
import * as Parts from "./conversationParts.ts"
import { type CommandEnd, stopGroup } from "./machine.ts"
import { safeVariables } from "./variables.ts"

/** A class, because it is the state of a process. */
export class Conversation {
  /** The calls that hooks, people and tools have not answered yet, by id. */
  readonly waiting = new Map<string, Parts.Waiting>()
  /** Receives the text while it is written. */
  onText: ((text: string) => void) | undefined = undefined
  private readonly start: Parts.Start
  private readonly shown = new Map<string, ToolCallUpdate>()
  private readonly terminals = new Map<string, CommandEnd>()
  private queue: Array<ToolCall> = []
  private text = ""
  private count = 0
  private cost = { told: 0, counted: 0 }
  private tokens = { input: 0, output: 0 }
  private hasSpent = false
  private done: { readonly stopReason: string } | undefined = undefined
  private failure: Error | undefined = undefined
  private notify: (() => void) | undefined = undefined
  private said = ""
  private connected: Parts.Connected | undefined = undefined
  private isEnded = false
  /** Settles when the agent has answered. */
  private working: Promise<void> | undefined = undefined

  constructor(start: Parts.Start) {
    this.start = start
  }

  get isRunning(): boolean {
    return this.connected !== undefined && !this.isEnded
  }

  /** Starts the process and its session. */
  async open(): Promise<void> {
    const { args, command, cwd, env, files, startTimeoutMs, terminal } = this.start
    const { PROTOCOL_VERSION, client, ndJsonStream } = await Parts.load()
    const child = spawn(command, [...args], {
      cwd,
      env: { ...safeVariables(), ...env },
      stdio: ["pipe", "pipe", "pipe"],
      detached: process.platform !== "win32"
    })
    const gone = new Promise<never>((_, reject) => {
      child.on("error", (error) => reject(new Error(`${command} cannot be started: ${error.message}`)))
      child.on("exit", (code, signal) => {
        // What it wrote last arrives after its end.
        setTimeout(() => {
          const last = this.said.trim().split("\n").at(-1) ?? ""
          const why = last === "" ? "" : ` (it said: ${last.slice(0, 500)})`
          reject(new Error(`${command} has ended with ${signal ?? `code ${code}`}${why}`))
        }, 20)
      })
    })
    gone.catch((error: Error) => this.fail(error))
    child.stderr.on("data", (bytes: Buffer) => {
      this.said = `${this.said}${bytes.toString("utf8")}`.slice(-2_000)
    })
    child.stdin.on("error", () => {})
    const app = client({ name: "belay" })
      // Comes first: the SDK tries handlers one after another, and a later message may overtake one that waits.
      .onNotification("session/update", ({ params: { update } }) => this.read(update))
      .onRequest("session/request_permission", ({ params }) => {
        const { args: asked, name } = actionOf(params, this.shown.get(params.toolCall.toolCallId))
        return this.ask(name, asked, "permission").then((ended) => ({
          outcome: Parts.outcomeOf(params.options, ended.ok)
        }))
      })
      .onRequest("fs/read_text_file", ({ params: { limit, line, path } }) => {
        const asked = { file_path: path, ...Parts.given({ offset: line, limit }) }
        return this.ask("Read", asked, "read").then((ended) => ({ content: Parts.textOf(ended) }))
      })
      .onRequest(
        "fs/write_text_file",
        ({ params: { content, path } }) =>
          this.ask("Write", { file_path: path, content }, "write").then((ended) => {
            Parts.textOf(ended)
            return {}
          })
      )
      .onRequest("terminal/create", ({ params }) => this.runTerminal(params))
      .onRequest("terminal/output", ({ params: { terminalId } }) => {
        const { exitCode, output, signal, truncated } = this.terminal(terminalId)
        return { output, truncated, exitStatus: { exitCode, signal } }
      })
      .onRequest("terminal/wait_for_exit", ({ params: { terminalId } }) => {
        const { exitCode, signal } = this.terminal(terminalId)
        return { exitCode, signal }
      })
      .onRequest("terminal/kill", () => ({}))
      .onRequest("terminal/release", ({ params: { terminalId } }) => {
        this.terminals.delete(terminalId)
        return {}
      })
    // The types of `node:stream/web` and those of `fetch` are written separately for the same streams.
    const isCut = () => child.stdout.readableEnded
    const stream = ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout) as never)
    const connection = app.connect(stream)
    const close = () => {
      connection.close()
      stopGroup(child.pid)
      // A program that does not want to end is ended.
      const timer = setTimeout(() => stopGroup(child.pid, "SIGKILL"), 2_000).unref()
      child.once("exit", () => clearTimeout(timer))
    }
    const { agent } = connection
    const starting = agent.request("initialize", {
      protocolVersion: PROTOCOL_VERSION,
      clientInfo: { name: "belay", version: "0.1.0" },
      clientCapabilities: {
        fs: { readTextFile: files !== "none", writeTextFile: files === "write" },
        terminal
      }
    }).then(() => agent.request("session/new", { cwd, mcpServers: [] }))
    const late = new Promise<never>((_, reject) => {
      const timer = setTimeout(
        () => reject(new Error(`${command} did not start within ${startTimeoutMs} ms`)),
        startTimeoutMs
      )
      starting.then(() => clearTimeout(timer), () => clearTimeout(timer))
      gone.catch(() => clearTimeout(timer))
    })
    const started = await Promise.race([Parts.patient(starting, isCut), gone, late]).catch((error: Error) => {
      close()
      return Promise.reject(error)
    })
    this.connected = {
      close,
      cancel: () => agent.notify("session/cancel", { sessionId: started.sessionId }).catch(() => {}),
      prompt: (prompt) =>
        Parts.patient(agent.request("session/prompt", { sessionId: started.sessionId, prompt }), isCut)
    }
  }

  /** Gives the agent a task. */
  prompt(prompt: Array<ContentBlock>): void {
    this.done = undefined
    const { connected } = this
    if (connected === undefined) return
    this.working = connected.prompt(prompt).then(
      (response) => {
        this.readUsage(response)
        this.done = { stopReason: response.stopReason }
        this.working = undefined
        this.notify?.()
      },
      (error: Error) => this.fail(error)
    )
  }

  /** Waits until the agent wants something or has finished. */
  async next(): Promise<Parts.Next> {
    while (this.queue.length === 0 && this.done === undefined && this.failure === undefined) {
      await new Promise<void>((resolve) => {
        this.notify = resolve
      })
    }
    // Requests that are sent together arrive together.
    await new Promise((resolve) => setImmediate(resolve))
    if (this.failure !== undefined) return Promise.reject(this.failure)
    const { text } = this
    this.text = ""
    if (this.queue.length === 0) return { type: "done", text, stopReason: this.done?.stopReason ?? "cancelled" }
    const calls = this.queue
    this.queue = []
    return { type: "calls", text, calls }
  }

  /** Returns what was used since the last call of this function, if the agent says so. */
  spent(): Parts.Spent | undefined {
    if (!this.hasSpent) return undefined
    const { cost, tokens } = this
    const costUsd = Math.max(0, cost.told - cost.counted)
    this.cost = { told: cost.told, counted: Math.max(cost.told, cost.counted) }
    this.tokens = { input: 0, output: 0 }
    this.hasSpent = false
    return { inputTokens: tokens.input, outputTokens: tokens.output, ...(costUsd === 0 ? {} : { costUsd }) }
  }

  /** Cancels what runs, and ends the process. */
  close(): void {
    if (this.isEnded) return
    this.isEnded = true
    this.failure ??= new Error("the agent was closed")
    this.endAll("cancelled")
    const { connected, working } = this
    this.notify?.()
    if (connected === undefined) return
    if (working === undefined) return connected.close()
    // An agent that listens can put things in order before its process ends.
    void connected.cancel()
    const timer = setTimeout(connected.close, Parts.graceMs)
    void working.then(() => {
      clearTimeout(timer)
      connected.close()
    })
  }

  private fail(error: Error): void {
    this.isEnded = true
    this.failure ??= error
    this.endAll("the agent has ended")
    this.connected?.close()
    this.notify?.()
  }

  private endAll(output: string): void {
    for (const [id, { end }] of this.waiting) {
      this.waiting.delete(id)
      end({ ok: false, output })
    }
  }

  private ask(name: string, args: JsonObject, kind: Parts.Waiting["kind"]): Promise<Parts.Ended> {
    const id = `acp_${++this.count}_${crypto.randomUUID().slice(0, 8)}`
    return new Promise((resolve) => {
      this.waiting.set(id, { kind, args, end: resolve })
      this.queue.push({ id, name, args })
      this.notify?.()
    })
  }

  private async runTerminal(
    { args = [], command, cwd, env = [], outputByteLimit }: {
      readonly command: string
      readonly args?: ReadonlyArray<string>
      readonly env?: ReadonlyArray<{ readonly name: string; readonly value: string }>
      readonly cwd?: string | null
      readonly outputByteLimit?: number | null
    }
  ): Promise<{ terminalId: string }> {
    const variables = Object.fromEntries(env.map(({ name, value }) => [name, value]))
    const ended = await this.ask("Bash", {
      command: args.length === 0 ? command : lineOf([command, ...args]),
      ...Parts.given({ cwd, limit: outputByteLimit }),
      ...(env.length === 0 ? {} : { env: variables })
    }, "terminal")
    const terminalId = `terminal_${++this.count}`
    const output = Parts.textOf(ended)
    this.terminals.set(
      terminalId,
      Parts.isCommandEnd(ended.output) ? ended.output : {
        output,
        truncated: false,
        exitCode: 0,
        signal: null
      }
    )
    return { terminalId }
  }

  private terminal(id: string): CommandEnd {
    const found = this.terminals.get(id)
    if (found === undefined) throw new Error(`there is no terminal ${id}`)
    return found
  }

  private read(update: SessionUpdate): void {
    const { sessionUpdate: type } = update
    if (type === "agent_message_chunk") {
      if (update.content.type !== "text" || this.text.length > 1_000_000) return
      this.text += update.content.text
      this.onText?.(update.content.text)
    } else if (type === "tool_call" || type === "tool_call_update") {
      if (this.shown.size > 1_000) this.shown.clear()
      this.shown.set(update.toolCallId, { ...this.shown.get(update.toolCallId), ...update })
    } else if (type === "usage_update") {
      const { amount, currency } = update.cost ?? {}
      if (currency !== "USD" || typeof amount !== "number" || !(amount >= 0) || amount === Infinity) return
      this.cost.told = amount
      this.hasSpent = true
    }
  }

  /** Some agents say how many tokens a prompt took. */
  private readUsage(response: object): void {
    const usage = "usage" in response && typeof response.usage === "object" ? response.usage : undefined
    if (usage === null || usage === undefined) return
    const of = (key: string) => {
      const value: unknown = Reflect.get(usage, key)
      return typeof value === "number" && value >= 0 && Number.isSafeInteger(value) ? value : 0
    }
    const input = of("inputTokens") + of("cachedReadTokens") + of("cachedWriteTokens")
    this.tokens = { input, output: of("outputTokens") }
    this.hasSpent = true
  }
}
