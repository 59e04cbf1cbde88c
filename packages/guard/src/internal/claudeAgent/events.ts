/** The events of the Claude Agent SDK as steps of a guarded session. */
import type { GivenCall, GuardSession } from "@belay/core/Driver"
import type { Json } from "@belay/core/Json"
import type { ToolCallVerdict } from "@belay/core/Verdict"
import { mustHold } from "../coverage.ts"
import { decide } from "../decide.ts"
import { withInjected } from "../injected.ts"
import { jsonOf, sameJson } from "../json.ts"
import type { Place } from "../place.ts"
import { unseenBeside } from "../unseen.ts"
import { type Callback, type CanUseTool, contextOf, type HookOutput, type Payload, specific } from "./payloads.ts"

/** The tools with which an agent starts another one. */
const delegates = new Set(["Agent", "Task"])

type Options = Parameters<Callback>[2]

/** A class, because each sub-agent has a session of its own. */
export class Events {
  private readonly place: Place
  private readonly other: CanUseTool | undefined
  private readonly open: (agentId: string, name: string) => GuardSession
  private readonly agents = new Map<string, GuardSession>()
  /** How turns end after the calls of their step, by agent. */
  private readonly endings = new Map<string, HookOutput>()

  constructor(place: Place, other: CanUseTool | undefined, open: Events["open"]) {
    this.place = place
    this.other = other
    this.open = open
  }

  /** The session of the agent in which the event has happened. */
  private sessionOf({ agent_id: id, agent_type: name = "agent" }: Payload): GuardSession {
    if (id === undefined) return this.place.session
    const known = this.agents.get(id)
    if (known !== undefined) return known
    const made = this.open(id, name)
    this.agents.set(id, made)
    return made
  }

  readonly UserPromptSubmit = async (input: Payload): Promise<HookOutput> => {
    const { prompt = "" } = input
    const verdict = await this.sessionOf(input).userMessage(unseenBeside(prompt))
    switch (verdict.type) {
      case "allow":
        return verdict.input.message === prompt
          ? specific("UserPromptSubmit", contextOf(verdict.context))
          : { decision: "block", reason: "a hook changed the message, which this SDK cannot pass on" }
      case "respond":
        return { decision: "block", reason: verdict.text }
      case "deny":
        return { decision: "block", reason: verdict.reason }
      case "stop":
        return { continue: false, stopReason: verdict.reason }
    }
  }

  readonly PreToolUse = async (input: Payload, _id: unknown, options: Options): Promise<HookOutput> => {
    const { tool_input: given, tool_name: name = "" } = input
    const session = this.sessionOf(input)
    const call = await this.callOf(input)
    if (delegates.has(name)) {
      const refused = await this.delegation(session, Object(given))
      if (refused !== undefined) return denied(refused)
    }
    const asked = await session.toolCall(call)
    const verdict = await this.decided(session, call, asked, options)
    // The turn may have been cancelled while the guard was deciding.
    if (options.signal.aborted) return denied("the turn was cancelled")
    return answerTo(call, verdict, asked.type === "ask")
  }

  /** Puts a question to the person whom the program asks about its own calls. */
  private async decided(
    session: GuardSession,
    { id, name }: GivenCall,
    verdict: ToolCallVerdict,
    options: Options
  ): Promise<ToolCallVerdict> {
    if (verdict.type !== "ask") return verdict
    const { context, question: { args, reason } } = verdict
    if (this.other === undefined) {
      const refused = `nobody can be asked (give canUseTool): ${reason}`
      return await decide(session, id, { type: "deny", reason: refused }, context)
    }
    const answer: unknown = await this.other(name, Object(args), {
      ...options,
      toolUseID: id,
      requestId: id,
      decisionReason: reason
    })
    const { behavior, message, updatedInput } = Object(answer) as { readonly [key: string]: unknown }
    if (behavior !== "allow") {
      return await decide(session, id, {
        type: "deny",
        reason: typeof message === "string" ? message : "refused",
        ...this.place.by
      }, context)
    }
    const isEdited = updatedInput !== undefined && !sameJson(jsonOf(updatedInput), args)
    return await decide(
      session,
      id,
      isEdited ? { type: "edit", args: jsonOf(updatedInput), ...this.place.by } : { type: "approve", ...this.place.by },
      context
    )
  }

  /** Returns why the agent must not start another one. */
  private async delegation(
    session: GuardSession,
    given: { readonly [key: string]: unknown }
  ): Promise<string | undefined> {
    const message = textOf(jsonOf(given["prompt"] ?? ""))
    const verdict = await session.delegation({
      agent: textOf(jsonOf(given["subagent_type"] ?? "agent")),
      type: "delegate",
      message
    })
    if (verdict.type === "respond") return verdict.result.text
    if (verdict.type !== "allow") return verdict.reason
    return verdict.delegation.message === message
      ? undefined
      : "a hook changed the task: change the arguments of the tool in preToolCall instead"
  }

  readonly PostToolUse = async (input: Payload): Promise<HookOutput> => {
    const output = jsonOf(input.tool_response)
    const verdict = await this.sessionOf(input).toolResult(await this.finishedOf(input), { ok: true, output })
    if (verdict.type === "stop") return { continue: false, stopReason: verdict.reason, ...withheld(verdict.reason) }
    const { context, result } = verdict
    const now = result.ok ? result.output : result.error
    if (result.ok && sameJson(now, output)) return specific("PostToolUse", contextOf(context))
    return changedResult(input, output, now, contextOf(context))
  }

  /** A tool has failed. Whatever this answers, the SDK continues to the end of the step. */
  readonly PostToolUseFailure = async (input: Payload): Promise<HookOutput> => {
    const output = await this.failed(input).catch((error: unknown): HookOutput => ended(failedGuard(error)))
    if (output.continue === false) this.endings.set(input.agent_id ?? "", output)
    return output
  }

  /** All calls of a step are done, and the model has not read their results. */
  readonly PostToolBatch = ({ agent_id: id = "" }: Payload): Promise<HookOutput> => {
    const output = this.endings.get(id) ?? {}
    this.endings.delete(id)
    return Promise.resolve(output)
  }

  private async failed(input: Payload): Promise<HookOutput> {
    const { error = "failed", tool_name: name = "the tool" } = input
    const verdict = await this.sessionOf(input).toolResult(await this.finishedOf(input), { ok: false, error })
    if (verdict.type === "stop") return ended(verdict.reason)
    const { context, result } = verdict
    const now = textOf(result.ok ? result.output : result.error)
    if (now === error) return specific("PostToolUseFailure", contextOf(context))
    // The SDK passes on the error as it is. The model can only read more.
    if (!this.mustWithhold()) return specific("PostToolUseFailure", contextOf([{ text: now }, ...context]))
    return ended(
      `a hook changed the error of ${name}, and this SDK cannot withhold errors from the model: ` +
        "begin a new conversation, or accept the gap: allowUnguarded: [\"PostToolUseFailure\"]"
    )
  }

  /** Whether a hook that must hold decides about results, so that the model must not read an error which it changed. */
  private mustWithhold(): boolean {
    const { allowUnguarded, chain } = this.place.guard
    return !allowUnguarded.includes("PostToolUseFailure") &&
      chain.hooks.some((hook) => hook.postToolCall !== undefined && mustHold(hook))
  }

  readonly Stop = async (input: Payload): Promise<HookOutput> => {
    const verdict = await this.sessionOf(input).beforeStop({ text: input.last_assistant_message ?? "" })
    switch (verdict.type) {
      case "allow":
        return {}
      case "continue":
        return { decision: "block", reason: verdict.message }
      default:
        return { continue: false, stopReason: verdict.reason }
    }
  }

  readonly SubagentStart = async (input: Payload): Promise<HookOutput> => {
    this.sessionOf(input)
    return await Promise.resolve({})
  }

  readonly SubagentStop = async (input: Payload): Promise<HookOutput> => {
    const output = await this.Stop(input)
    if (output.decision !== "block") await this.sessionOf(input).end()
    return output
  }

  readonly SessionEnd = async (): Promise<HookOutput> => {
    await this.place.session.end()
    return {}
  }

  private async callOf({ tool_input: input, tool_name: name = "", tool_use_id: id = "" }: Payload): Promise<GivenCall> {
    return { id, name, args: jsonOf(input ?? {}), tool: await this.place.toolOf(name) }
  }

  private async finishedOf(input: Payload): Promise<GivenCall & { readonly elapsedMs?: number }> {
    const call = await this.callOf(input)
    return { ...call, ...(input.duration_ms === undefined ? {} : { elapsedMs: input.duration_ms }) }
  }
}

const answerTo = ({ args = {} }: GivenCall, verdict: ToolCallVerdict, isAnswered: boolean): HookOutput => {
  const { context } = verdict
  switch (verdict.type) {
    case "allow":
      return specific("PreToolUse", {
        ...contextOf(context),
        // Changed arguments and the approval of a person take the place of the SDK's own question.
        ...(isAnswered || !sameJson(verdict.args, args)
          ? { permissionDecision: "allow", updatedInput: verdict.args }
          : {})
      })
    case "respond":
      return denied(withInjected(`not run, and this is its result: ${textOf(verdict.result)}`, context))
    case "ask":
      return denied(withInjected(`not run: more people have to approve: ${verdict.question.reason}`, context))
    case "deny":
      return denied(withInjected(verdict.reason, context))
    case "stop":
      return { continue: false, stopReason: verdict.reason, ...denied(verdict.reason) }
  }
}

const textOf = (value: Json): string => typeof value === "string" ? value : JSON.stringify(value)

/** Refuses a call. */
export const denied = (reason: string): HookOutput =>
  specific("PreToolUse", { permissionDecision: "deny", permissionDecisionReason: reason })

/**
 * Replaces a result. A tool of the SDK has to keep its form: in another one, the model would read the original. So a
 * text is put into the form, and where that is not known, the turn ends before the model reads the original.
 */
const changedResult = ({ tool_name: name = "" }: Payload, output: Json, now: Json, more: object): HookOutput => {
  const updatedToolOutput = typeof now !== "string" || name.startsWith("mcp__") ? now : inForm(output, now)
  return updatedToolOutput === undefined
    ? { ...ended(`a text cannot take the place of a result of ${name}: ${textOf(now)}`), ...withheld(textOf(now)) }
    : specific("PostToolUse", { ...more, updatedToolOutput })
}

/** Returns a result of a command or of a file that was read, with another text. */
const inForm = (output: Json, text: string): Json | undefined => {
  if (typeof output === "string") return text
  if (typeof output !== "object" || output === null || Array.isArray(output)) return undefined
  const { file, stdout } = output as { readonly [field: string]: Json }
  if (typeof stdout === "string") return { ...output, stdout: text, stderr: "" }
  return typeof Object(file).content === "string" ? { ...output, file: { ...Object(file), content: text } } : undefined
}

const ended = (stopReason: string): HookOutput => ({ continue: false, stopReason })

/** Says that the guard itself has failed. */
export const failedGuard = (error: unknown): string =>
  `the guard failed: ${error instanceof Error ? error.message : String(error)}`

const withheld = (reason: string): HookOutput => specific("PostToolUse", { updatedToolOutput: reason })
