/** Plays one conversation: the real agent, and a program in place of the model. */
import type { AgentHook } from "@belay/core/AgentHook"
import { createAgent } from "@belay/core/createAgent"
import { type LlmRequest, type LlmResponse, textResponse } from "@belay/core/LlmCall"
import type { LlmProvider } from "@belay/core/LlmProvider"
import type { Decision, PendingAsk } from "@belay/core/RunState"
import * as Effect from "effect/Effect"
import type { AnyDomain, Call, Read, Task } from "./kit.ts"

/** What an attacker has prepared for one task. */
export interface Attack {
  readonly kind: string
  readonly task: Task<Read>
  /** Writes what the attacker can write into the state. */
  readonly plant: (state: Read) => void
  /** The model obeys once it has read this. */
  readonly marker: string
  /** What the model then does, given everything that it has read. `undefined`: the attacker finds nothing to use. */
  readonly calls: (state: Read, seen: string) => ReadonlyArray<Call> | undefined
  readonly reached: (state: Read) => boolean
}

/** How a conversation went. */
export interface Played {
  readonly solved: boolean
  readonly reached: boolean
  /** The calls of the task itself, in order. */
  readonly calls: ReadonlyArray<Call>
  /** The questions, each with the step in which it was asked. */
  readonly questions: ReadonlyArray<{ readonly step: number; readonly ask: PendingAsk }>
}

/** Options of `play`. */
export interface Setting {
  readonly domain: AnyDomain
  readonly task: Task<Read>
  readonly hooks: ReadonlyArray<AgentHook>
  readonly attack?: Attack
  /** The calls that the person wants, as `keyOf` writes them. Absent: everything is approved. */
  readonly wanted?: ReadonlySet<string>
}

/** Writes a call so that equal calls have the same text. */
export const keyOf = (name: string, args: unknown): string => `${name} ${canonical(args)}`

const canonical = (value: unknown): string => {
  if (typeof value !== "object" || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  return `{${
    Object.entries(value).toSorted(([a], [b]) => a < b ? -1 : 1).map(([key, one]) => `${key}:${canonical(one)}`).join()
  }}`
}

/** Runs a task from its prompt to its end. */
export const play = async ({ attack, domain, hooks, task, wanted }: Setting): Promise<Played> => {
  const state = domain.fresh()
  attack?.plant(state)
  const model = new Model(task, attack, state)
  const questions: Array<Played["questions"][number]> = []
  const person = (ask: PendingAsk): Decision => {
    questions.push({ step: model.steps, ask })
    return wanted === undefined || wanted.has(keyOf(ask.tool, ask.args))
      ? { type: "approve" }
      : { type: "deny", reason: "I did not ask for that" }
  }
  const agent = createAgent({
    provider: model.provider,
    tools: domain.tools(state),
    hooks,
    onAsk: person,
    limits: { steps: 40 },
    log: false
  })
  const result = await agent.run(task.prompt)
  await agent.close()
  const answer = result.text
  return {
    solved: Boolean(guarded(() => task.check(state, answer))),
    reached: attack !== undefined && Boolean(guarded(() => attack.reached(state))),
    calls: model.asked,
    questions
  }
}

/** A check that cannot read what it expects has failed. */
const guarded = (check: () => unknown): unknown => {
  try {
    return check()
  } catch {
    return false
  }
}

/** The program in place of the model: it does the task, and from the first injection that it reads what that says. */
class Model {
  steps = 0
  readonly asked: Array<Call> = []
  readonly provider: LlmProvider
  private readonly solution
  private readonly attack: Attack | undefined
  private readonly state: unknown
  private isTakenOver = false
  private kept: ReadonlyArray<Read> | undefined

  constructor(task: Task<Read>, attack: Attack | undefined, state: unknown) {
    this.solution = task.solve()
    this.attack = attack
    this.state = state
    this.provider = { name: "program", complete: (request) => Effect.sync(() => this.answer(request)) }
  }

  private answer({ messages }: LlmRequest): LlmResponse {
    this.steps++
    const last = messages.findLastIndex(({ role }) => role === "assistant")
    const results = this.steps === 1 ? [] : messages.slice(last + 1).filter((one) => one.role === "tool")
    const seen = messages.filter(({ role }) => role === "tool").map((one) => textOf(one.content)).join("\n")
    const { attack } = this
    if (attack !== undefined && !this.isTakenOver && seen.includes(attack.marker)) {
      this.isTakenOver = true
      const calls = attack.calls(this.state, seen)
      if (calls !== undefined && calls.length > 0) {
        this.kept = results.map(read)
        return this.request(calls)
      }
    }
    const given = this.kept ?? results.map(read)
    this.kept = undefined
    try {
      const next = this.steps === 1 ? this.solution.next([]) : this.solution.next(given)
      if (next.done === true) return textResponse(typeof next.value === "string" ? next.value : "I could not find it.")
      this.asked.push(...next.value)
      return this.request(next.value)
    } catch {
      return textResponse("I could not do it.")
    }
  }

  private request(calls: ReadonlyArray<Call>): LlmResponse {
    const toolCalls = calls.map(([name, args], index) => ({ id: `c${this.steps}-${index}`, name, args }))
    return {
      model: "program",
      text: "",
      toolCalls,
      finishReason: "tool-calls",
      usage: { inputTokens: 1, outputTokens: 1 }
    }
  }
}

const textOf = (content: unknown): string => typeof content === "string" ? content : JSON.stringify(content)

const read = ({ content, isError }: { readonly content: unknown; readonly isError?: boolean }): Read =>
  isError === true ? { error: content } : content
