/** Runs a chat: reads messages, shows answers as they are written, and asks the person when a tool needs approval. */
import type { AgentConfig } from "@belay/core/AgentConfig"
import type { AgentEvent } from "@belay/core/AgentEvent"
import { type Agent, type AgentSession, createAgent } from "@belay/core/createAgent"
import { messageOf } from "@belay/core/ErrorMessage"
import type { RunResult } from "@belay/core/RunResult"
import type { Decision } from "@belay/core/RunState"
import * as TerminalApproval from "@belay/hooks/TerminalApproval"
import * as SqliteStore from "@belay/providers/SqliteStore"
import { mkdirSync } from "node:fs"
import { dirname } from "node:path"
import { createInterface, type Interface } from "node:readline/promises"
import { handleInterrupts } from "../interrupts.ts"
import { plain, type Screen, styleOf } from "../screen.ts"

export interface ChatOptions {
  readonly config: AgentConfig
  /** What answers, for the greeting. */
  readonly about: string
  readonly storePath: string
  readonly sessionId: string
  readonly screen: Screen
  readonly terminal: TerminalApproval.Terminal
}

/** Runs until the input ends. */
export const runChat = async (options: ChatOptions): Promise<void> => {
  const { config, storePath } = options
  mkdirSync(dirname(storePath), { recursive: true })
  const store = SqliteStore.make({ path: storePath })
  const agent = createAgent({ log: false, ...config, store: store.sessions })
  const chat = new Chat(agent, options)
  await chat.run()
  await agent.close()
  store.close()
}

/** A class, because what is typed and what runs changes with every line. */
class Chat {
  private readonly agent: Agent
  private readonly options: ChatOptions
  private readonly style: ReturnType<typeof styleOf>
  private sessionId: string
  private running: AbortController | undefined
  private isEnding = false
  private isAtLineStart = true

  constructor(agent: Agent, options: ChatOptions) {
    this.agent = agent
    this.options = options
    this.style = styleOf(options.screen)
    this.sessionId = options.sessionId
  }

  async run(): Promise<void> {
    const { about, terminal: { input, output } } = this.options
    const { bold, dim } = this.style
    const stop = handleInterrupts(() => this.interrupt())
    let session = await this.agent.session({ id: this.sessionId })
    this.line(`${bold("belay chat")}  ${dim(plain(about))}`)
    this.line(dim(
      `session ${plain(this.sessionId)}: ${
        session.messages.length === 0 ? "new" : `${session.messages.length} messages so far`
      }. /new begins another, /exit or Ctrl-D ends, Ctrl-C stops an answer`
    ))
    if (session.waiting.type !== "nothing") {
      this.line(dim("The last turn ended in the middle. It continues."))
      await this.turn(session, undefined)
    }
    const lines = this.interface()
    lines.prompt()
    for await (const typed of lines) {
      const text = typed.trim()
      if (text === "/exit") break
      if (text === "/new") {
        this.sessionId = crypto.randomUUID()
        session = await this.agent.session({ id: this.sessionId })
        this.line(dim(`session ${this.sessionId}`))
      } else if (text !== "") {
        // The terminal asks questions itself.
        lines.pause()
        await this.turn(session, text)
        lines.resume()
      }
      if (this.isEnding) break
      lines.prompt()
    }
    lines.close()
    stop()
    // Input that ends without a line break leaves the prompt on the screen.
    if (output.isTTY === true && input.isTTY === true) this.line("")
  }

  private interface(): Interface {
    const { input, output } = this.options.terminal
    const isTerminal = input.isTTY === true && output.isTTY === true
    const lines = createInterface({ input, output: isTerminal ? output : undefined!, terminal: isTerminal })
    lines.setPrompt(this.style.cyan("you> "))
    lines.on("SIGINT", () => {
      if (!this.interrupt()) lines.close()
    })
    return lines
  }

  /** Stops the answer. Without one, the chat ends. */
  private interrupt(): boolean {
    if (this.running === undefined) {
      this.isEnding = true
      return false
    }
    this.running.abort(new DOMException("stopped", "AbortError"))
    return true
  }

  private async turn(session: AgentSession, text: string | undefined): Promise<void> {
    const { dim, red } = this.style
    let [message, decisions]: [string | undefined, Record<string, Decision> | undefined] = [text, undefined]
    while (true) {
      this.running = new AbortController()
      const { signal } = this.running
      const stream = message === undefined
        ? session.resumeStream(decisions, { signal })
        : session.stream(message, { signal })
      const shown = await this.show(stream).catch((error: unknown) => {
        this.line(signal.aborted ? dim("stopped") : red(`error  ${plain(messageOf(error))}`))
        return undefined
      })
      this.running = undefined
      if (shown?.status !== "suspended") return
      message = undefined
      decisions = await this.decide(session)
    }
  }

  private async show(stream: AsyncIterable<AgentEvent> & { readonly result: Promise<RunResult> }): Promise<RunResult> {
    for await (const event of stream) this.take(event)
    const result = await stream.result
    if (!this.isAtLineStart) this.line("")
    if (result.status === "limited") this.line(this.style.red(`limit reached: ${result.limit}`))
    if (result.status === "aborted") {
      this.line(this.style.red(`stopped by ${plain(result.by)}: ${plain(result.reason)}`))
    }
    return result
  }

  private async decide(session: AgentSession): Promise<Record<string, Decision>> {
    const ask = TerminalApproval.ask({ terminal: this.options.terminal })
    const decisions: Record<string, Decision> = {}
    // Its answers are decisions.
    for (const pending of session.pending) decisions[pending.callId] = await ask(pending) as Decision
    return decisions
  }

  private take(event: AgentEvent): void {
    const { dim, green, red, yellow } = this.style
    switch (event.type) {
      case "text-delta":
        return this.write(event.text.split("\n").map(plain).join("\n"))
      case "retract":
        return this.line(dim("(what was shown does not count)"))
      case "tool-start":
        return this.line(dim(`→ ${plain(event.call.name)} ${short(event.call.args)}`))
      case "tool-end":
        return event.result.ok
          ? this.line(`${green("✓")} ${dim(short(event.result.output))}`)
          : this.line(`${red("✗")} ${short(event.result.error)}`)
      case "tool-denied":
        return this.line(`${red("✗")} ${plain(event.call.name)}: refused by ${plain(event.by)}`)
      case "llm-error":
        return this.line(yellow(`${plain(event.provider)} ${event.error}: ${event.decision.type}`))
      case "notice":
        return this.line(yellow(plain(event.message)))
      default:
        return undefined
    }
  }

  private line(text: string): void {
    this.write(`${this.isAtLineStart ? "" : "\n"}${text}\n`)
  }

  private write(text: string): void {
    if (text === "") return
    this.options.terminal.output.write(text)
    this.isAtLineStart = text.endsWith("\n")
  }
}

const short = (value: unknown): string => {
  const text = plain(typeof value === "string" ? value : JSON.stringify(value) ?? "")
  return text.length > 100 ? `${text.slice(0, 99)}…` : text
}
