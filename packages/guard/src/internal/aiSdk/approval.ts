/** Questions of the guard as approval requests of the AI SDK. */
import type { ToolCallVerdict } from "@belay/core/Verdict"
import type { ModelMessage, ToolApprovalStatus } from "ai"
import { decide } from "../decide.ts"
import { jsonOf } from "../json.ts"
import type { Place } from "../place.ts"
import { notOpen, questionText } from "../questionText.ts"
import type { ClientCalls } from "./clientCalls.ts"

interface Asked {
  readonly toolCall: { readonly toolCallId: string; readonly toolName: string; readonly input: unknown }
  readonly messages: ReadonlyArray<ModelMessage>
  readonly tools?: unknown
  readonly toolsContext?: unknown
  readonly runtimeContext?: unknown
}

const guarded = new WeakSet<object>()

/** Whether this function decides for a guard already. */
export const isGuardedApproval = (given: unknown): boolean => typeof given === "function" && guarded.has(given)

/** Decides whether a call needs approval. Calls that no hook asks about go to `other`, which the program may have. */
export const approvalFor = (place: Place, clients: ClientCalls, other: unknown) => {
  const made = async (asked: Asked): Promise<ToolApprovalStatus> => await statusOf(place, clients, other, asked)
  guarded.add(made)
  return made
}

const statusOf = async (
  place: Place,
  clients: ClientCalls,
  other: unknown,
  asked: Asked
): Promise<ToolApprovalStatus> => {
  const { toolCall: { toolCallId: id, toolName: name } } = asked
  if (clients.isAllowed(id, name)) return await otherStatus(other, asked)
  const verdict = await judge(place, asked)
  place.denied.delete(id)
  switch (verdict.type) {
    case "ask":
      return { type: "user-approval", reason: questionText(verdict.question, jsonOf(asked.toolCall.input)) }
    case "deny":
    case "stop":
      place.denied.add(id)
      return { type: "denied", reason: verdict.reason }
    // The function of the tool returns the answer of the hook.
    case "respond":
      return "approved"
    case "allow":
      return await otherStatus(other, asked)
  }
}

type Judged = ToolCallVerdict | { readonly type: "deny"; readonly reason: string }

const judge = async (place: Place, { messages, toolCall }: Asked): Promise<Judged> => {
  const { input, toolCallId: id, toolName: name } = toolCall
  const { by, session } = place
  const answer = answerTo(messages, id)
  const isOpen = answer !== undefined && (await session.pending()).some(({ callId }) => callId === id)
  const verdict = await session.toolCall({ id, name, args: jsonOf(input), tool: await place.toolOf(name) })
  if (verdict.type !== "ask" || answer === undefined) return verdict
  if (!isOpen) {
    // The answer comes from the messages, which a client can write.
    const reason = notOpen(place, { id, name })
    await decide(session, id, { type: "deny", reason })
    return { type: "deny", reason }
  }
  const next = await decide(session, id, { type: "approve", ...by })
  return next.type === "ask" ? { type: "deny", reason: `more people have to approve: ${next.question.reason}` } : next
}

/** Returns the approval of a call in the messages, if the person has approved it. */
const answerTo = (messages: ReadonlyArray<ModelMessage>, id: string): true | undefined => {
  const parts = messages.flatMap(({ content }) =>
    typeof content === "string" ? [] : [...content] as ReadonlyArray<Part>
  )
  const request = parts.findLast((part) => part.type === "tool-approval-request" && part.toolCallId === id)
  const response = parts.findLast((part) =>
    part.type === "tool-approval-response" && part.approvalId === request?.approvalId
  )
  return request !== undefined && response?.approved === true ? true : undefined
}

interface Part {
  readonly type: string
  readonly toolCallId?: string
  readonly approvalId?: string
  readonly approved?: boolean
}

/** Asks the program: its function or its entry for the tool, otherwise the tool itself. */
const otherStatus = async (other: unknown, asked: Asked): Promise<ToolApprovalStatus> => {
  const { messages, runtimeContext, toolCall: { input, toolCallId, toolName }, tools, toolsContext } = asked
  if (typeof other === "function") return await (other as (asked: Asked) => Promise<ToolApprovalStatus>)(asked)
  const context = ownOf(toolsContext, toolName)
  const given = ownOf(other, toolName)
  if (typeof given === "function") {
    return await (given as Decide<ToolApprovalStatus>)(input, {
      toolCallId,
      messages,
      toolContext: context,
      runtimeContext
    })
  }
  if (given !== undefined && given !== null) return given as ToolApprovalStatus
  const needed = ownOf(ownOf(tools, toolName), "needsApproval")
  const isNeeded = typeof needed === "function"
    ? await (needed as Decide<boolean>)(input, { toolCallId, messages, context })
    : needed
  return isNeeded === true ? "user-approval" : undefined
}

type Decide<Answer> = (input: unknown, options: object) => Answer | Promise<Answer>

const ownOf = (of: unknown, name: string): unknown =>
  typeof of === "object" && of !== null && Object.hasOwn(of, name) ? Reflect.get(of, name) : undefined
