/** Runs a chat: reads messages, shows answers as they are written, and asks the person when a tool needs approval. */
import type { AgentConfig } from "@belay/core/AgentConfig"
import type { AgentEvent } from "@belay/core/AgentEvent"
import { type Agent, type AgentSession, createAgent } from "@belay/core/createAgent"
import { messageOf } from "@belay/core/ErrorMessage"
import { defined } from "@belay/core/Fields"
import type { RunResult } from "@belay/core/RunResult"
import type { Decision } from "@belay/core/RunState"
import * as TerminalApproval from "@belay/hooks/TerminalApproval"
import * as SqliteStore from "@belay/providers/SqliteStore"
import { createInterface } from "node:readline"
import { handleInterrupts } from "../interrupts.ts"
import { plain, type Screen, styleOf } from "../screen.ts"

export interface ChatOptions {
  readonly config: AgentConfig
  /** What answers, for the greeting. */
  readonly about: string
  readonly storePath: string
  readonly sessionId: string
  /** The recipe of the first turn. With `compact` the conversation is only compacted. */
  readonly recipe?: string
  /** The first message. */
  readonly first?: string
  /** Hooks of Kodelet in the code of the module do not run either. */
  readonly noHooks?: boolean
  readonly screen: Screen
  readonly terminal: TerminalApproval.Terminal
}

/** Runs until the input ends. */
export const runChat = async (options: ChatOptions): Promise<void> => {
  const { config, storePath } = options
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
  /** Stops what waits for the person's decisions. */
  private deciding: AbortController | undefined
  private isEnding = false
  private isAtLineStart = true
  /** What was typed before, the last first. */
  private typed: Array<string> = []

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
      }. /new begins another, /compact shortens the history, /exit or Ctrl-D ends, Ctrl-C stops an answer`
    ))
    if (session.waiting.type !== "nothing") {
      this.line(dim("The last turn ended in the middle. It continues."))
      await this.turn(session, undefined)
    }
    const { first, recipe } = this.options
    if (recipe === "compact") {
      await this.compact(session)
      return stop()
    }
    if (first !== undefined) await this.turn(session, first, recipe)
    for await (const line of this.lines()) {
      const text = line.trim()
      if (text === "/exit") break
      if (text === "/new") {
        this.sessionId = crypto.randomUUID()
        session = await this.agent.session({ id: this.sessionId })
        this.line(dim(`session ${this.sessionId}`))
      } else if (text === "/compact") await this.compact(session)
      else if (text !== "") await this.turn(session, text)
      if (this.isEnding) break
    }
    stop()
    // Input that ends without a line break leaves the prompt on the screen.
    if (output.isTTY === true && input.isTTY === true) this.line("")
  }

  /** At a terminal, nobody reads keys while an answer is written, so that a question of the answer gets all of them. */
  private async *lines(): AsyncGenerator<string> {
    const { input, output } = this.options.terminal
    if (input.isTTY !== true || output.isTTY !== true) {
      yield* createInterface({ input })
      return
    }
    for (let text = await this.prompt(); text !== undefined; text = await this.prompt()) yield text
  }

  /** Reads a message. Returns nothing if the person wants to leave. */
  private prompt(): Promise<string | undefined> {
    const { input, output } = this.options.terminal
    const lines = createInterface({ input, output, terminal: true, history: this.typed })
    const pasted: Array<string> = []
    return new Promise((resolve) => {
      const end = (text: string | undefined) => {
        resolve(text)
        lines.close()
      }
      lines.on("history", (typed) => this.typed = typed)
      lines.on("line", (line) => {
        pasted.push(line)
        // Several lines that were pasted are one message.
        setImmediate(() => end(pasted.join("\n")))
      })
      lines.on("close", () => end(undefined))
      lines.on("SIGINT", () => end(undefined))
      lines.setPrompt(this.style.cyan("you> "))
      lines.prompt()
    })
  }

  /** Stops the answer. Without one, or if it does not stop, the chat ends. */
  private interrupt(): boolean {
    const stoppable = this.running ?? this.deciding
    if (stoppable === undefined || stoppable.signal.aborted) {
      this.isEnding = true
      return false
    }
    stoppable.abort(new DOMException("stopped", "AbortError"))
    return true
  }

  private async compact(session: AgentSession): Promise<void> {
    const before = session.messages.length
    const isDone = await session.compact().catch((error: unknown) => {
      this.line(this.style.red(`error  ${plain(messageOf(error))}`))
      return false
    })
    const after = session.messages.length
    this.line(this.style.dim(isDone ? `compacted ${before} messages to ${after}` : "nothing was compacted"))
  }

  private async turn(session: AgentSession, text: string | undefined, recipe?: string): Promise<void> {
    const { dim, red } = this.style
    const metadata = { ...defined({ recipe }), ...(this.options.noHooks === true ? { hooks: "none" } : {}) }
    let [message, decisions]: [string | undefined, Record<string, Decision> | undefined] = [text, undefined]
    while (true) {
      this.running = new AbortController()
      const { signal } = this.running
      const stream = message === undefined
        ? session.resumeStream(decisions, { signal })
        : session.stream({ message, metadata }, { signal })
      const shown = await this.show(stream).catch((error: unknown) => {
        this.line(signal.aborted ? dim("stopped") : red(`error  ${plain(messageOf(error))}`))
        return undefined
      })
      this.running = undefined
      if (shown?.status !== "suspended") return
      message = undefined
      decisions = await this.decide(session)
      // The question stays open.
      if (this.isEnding) return
      if (decisions === undefined) {
        await session.abandon("not run: the person stopped the answer")
        return this.line(dim("stopped"))
      }
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

  /** Asks the person. Returns nothing if the person has stopped the answer, or has left with Ctrl-D. */
  private async decide(session: AgentSession): Promise<Record<string, Decision> | undefined> {
    const ask = TerminalApproval.ask({ terminal: this.options.terminal })
    this.deciding = new AbortController()
    const { signal } = this.deciding
    const decisions = new Map<string, Decision>()
    for (const pending of session.pending) {
      const decision = await ask({ ...pending, signal }).catch((error: unknown) => {
        if (signal.aborted) return undefined
        if (Object(error).code !== "ABORT_ERR") {
          return Promise.reject(error instanceof Error ? error : new Error(messageOf(error)))
        }
        this.isEnding = true
        return undefined
      })
      if (decision === undefined) break
      decisions.set(pending.callId, decision)
    }
    this.deciding = undefined
    return signal.aborted ? undefined : Object.fromEntries(decisions)
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
