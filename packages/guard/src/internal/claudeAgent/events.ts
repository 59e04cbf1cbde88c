/** The events of the Claude Agent SDK as steps of a guarded session. */
import type { GivenCall, GuardSession } from "@belay/core/Driver"
import type { Json } from "@belay/core/Json"
import type { ToolCallVerdict } from "@belay/core/Verdict"
import { decide } from "../decide.ts"
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
    const { args, reason } = verdict.question
    if (this.other === undefined) {
      return await decide(session, id, { type: "deny", reason: `nobody can be asked (give canUseTool): ${reason}` })
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
      })
    }
    const isEdited = updatedInput !== undefined && !sameJson(jsonOf(updatedInput), args)
    return await decide(
      session,
      id,
      isEdited ? { type: "edit", args: jsonOf(updatedInput), ...this.place.by } : { type: "approve", ...this.place.by }
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
    const now: Json = result.ok ? result.output : result.error
    return specific("PostToolUse", {
      ...contextOf(context),
      ...(sameJson(now, output) ? {} : { updatedToolOutput: now })
    })
  }

  readonly PostToolUseFailure = async (input: Payload): Promise<HookOutput> => {
    const { error = "failed" } = input
    const verdict = await this.sessionOf(input).toolResult(await this.finishedOf(input), { ok: false, error })
    return verdict.type === "stop"
      ? { continue: false, stopReason: verdict.reason }
      : specific("PostToolUseFailure", contextOf(verdict.context))
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
  switch (verdict.type) {
    case "allow":
      return specific("PreToolUse", {
        ...contextOf(verdict.context),
        // Changed arguments and the approval of a person take the place of the SDK's own question.
        ...(isAnswered || !sameJson(verdict.args, args)
          ? { permissionDecision: "allow", updatedInput: verdict.args }
          : {})
      })
    case "respond":
      return denied(`not run, and this is its result: ${textOf(verdict.result)}`)
    case "ask":
      return denied(`not run: more people have to approve: ${verdict.question.reason}`)
    case "deny":
      return denied(verdict.reason)
    case "stop":
      return { continue: false, stopReason: verdict.reason, ...denied(verdict.reason) }
  }
}

const textOf = (value: Json): string => typeof value === "string" ? value : JSON.stringify(value)

/** Refuses a call. */
export const denied = (reason: string): HookOutput =>
  specific("PreToolUse", { permissionDecision: "deny", permissionDecisionReason: reason })

const withheld = (reason: string): HookOutput => specific("PostToolUse", { updatedToolOutput: reason })
