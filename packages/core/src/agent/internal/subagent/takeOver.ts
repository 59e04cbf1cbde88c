/**
 * A transfer that stays: the agent that took the conversation over also answers the next messages, until it hands the
 * conversation back or on. The session has the name of the lead agent's tool that leads to it.
 */
import * as Schema from "effect/Schema"
import { digest, type Json } from "../../../data/Json.ts"
import { type Message, text, whyInvalid } from "../../../data/Message.ts"
import { success, type ToolResult } from "../../../data/tool/Tool.ts"
import { type RunningCall, type Transfer, update } from "../../../guard/internal/state/toolCallState.ts"
import { openStep } from "../../../guard/internal/state/turnState.ts"
import * as HookState from "../../../hook/HookState.ts"
import type { Delegate } from "../definition/resolvedAgent.ts"
import type { AgentTurn } from "../running/turnParts.ts"

/** No hook has an empty name, so only the runtime writes it. Empty: the lead agent answers. */
const answering = HookState.ownKey("answering-tool", Schema.String, "")("")

/** Returns the tool of the lead agent that leads to the agent that answers. */
export const answeringTool = ({ session: { root } }: AgentTurn): string | undefined => {
  const name = root.hasDurable ? root.durable.conversation.get(answering) : ""
  return name === "" ? undefined : name
}

/** Changes who answers the next messages. */
export const setAnswering = (turn: AgentTurn, tool: string | undefined): void => {
  if (answeringTool(turn) === tool) return
  const { root } = turn.session
  root.durable.conversation.write(answering, tool ?? "", "")
  turn.io.publish({ type: "handoff", ...(tool === undefined ? {} : { tool }) })
}

/** Whether the lead agent has this tool for transfers that stay. */
export const canStay = (turn: AgentTurn, tool: string, to: Delegate): boolean =>
  to.type === "transfer" && to.stays === true && turn.root.agent.delegates.get(tool) === to

/** The id of the call that continues a transfer. Models do not know it. */
const callIdOf = ({ session: { id }, state: { turnNumber } }: AgentTurn): string =>
  `handoff_${digest([id, turnNumber, "handoff"])}`

/** Opens a step in which the agent that took over answers, as if the model of the lead agent had called its tool. */
export const continueTransfer = (turn: AgentTurn): void => {
  const tool = turn.parent === undefined && turn.depth === 0 ? answeringTool(turn) : undefined
  if (tool === undefined) return
  const to = turn.agent.delegates.get(tool)
  if (to === undefined || !canStay(turn, tool, to)) {
    turn.io.warn(
      `the agent behind the tool ${tool} took the conversation over and is not there: the lead answers`,
      "runtime"
    )
    return setAnswering(turn, undefined)
  }
  const call = { id: callIdOf(turn), name: tool, args: { message: turn.state.input.message } }
  turn.session.ids.add(call.id)
  openStep(turn.state, { role: "assistant", content: "", toolCalls: [call] }, [call])
}

/** Whether this call continues a transfer, so that the user's message is the task. */
export const isContinued = (turn: AgentTurn, { state: { call } }: RunningCall): boolean => call.id === callIdOf(turn)

/** Runs `hand_back`: the turn of this agent ends with the message, and the lead agent goes on. */
export const runHandBack = (turn: AgentTurn, call: RunningCall, args: Json): ToolResult => {
  setAnswering(turn, undefined)
  const message = typeof args === "object" && args !== null && "message" in args ? args.message : ""
  const text = typeof message === "string" ? message : JSON.stringify(message)
  update(call, { type: "transfer", transfer: { text } })
  return success("handed back")
}

/** The messages of a sub-agent after its task, without its last answer: its calls of tools and their results. */
export const workOf = (messages: ReadonlyArray<Message>, task: string): ReadonlyArray<Message> => {
  const start = messages.findLastIndex((message) =>
    message.role === "user" && message.source === undefined && text(message) === task
  )
  const work = start < 0 ? [] : messages.slice(start + 1)
  return work.at(-1)?.role === "assistant" ? work.slice(0, -1) : work
}

/** Adds what the agent that took over did and said to the conversation. */
export const addTransferred = (turn: AgentTurn, { text, work = [] }: Transfer): void => {
  if (work.length > 0 && whyInvalid(work) === undefined && turn.session.findIdClash(work) === undefined) {
    turn.session.addIds(work)
    turn.messages.push(...work)
  }
  turn.messages.push({ role: "assistant", content: text })
}
