/** The fields that the events of each point can have. The compiler checks that the lists are complete. */
import type { HookPointName, In } from "../HookPoint.ts"

/** All fields of a type, also those of some members of a union only. */
type FieldOf<A> = A extends unknown ? keyof A & string : never

type Fields = { readonly [P in HookPointName]: { readonly [K in FieldOf<In<P>>]: true } }

const input = {
  message: true,
  attachments: true,
  metadata: true,
  key: true,
  steer: true,
  before: true,
  instructions: true,
  tools: true,
  part: true
} as const
const call = { call: true, tool: true } as const
const history = { messages: true, usage: true, budget: true } as const

export const eventFields: Fields = {
  onSessionStart: { sessionId: true, source: true, previous: true, windowTokens: true, context: true },
  onSessionEnd: { sessionId: true, reason: true },
  preTurn: input,
  postTurn: { input: true, output: true, executed: true },
  onTurnError: { input: true, error: true, answer: true },
  preLlmCall: { messages: true, tools: true, instructions: true, parameters: true, model: true },
  onLlmDelta: { type: true, text: true, id: true, name: true, argsText: true },
  postLlmCall: { request: true, response: true, provider: true, attempt: true, executed: true },
  onLlmError: { error: true, attempt: true, provider: true, providers: true, request: true, decision: true },
  preToolCall: {
    id: true,
    name: true,
    args: true,
    malformed: true,
    metadata: true,
    changed: true,
    tool: true,
    grant: true
  },
  postToolCall: { ...call, result: true, elapsedMs: true, executed: true, approval: true },
  onPermission: { ...call, reason: true, decision: true },
  onToolDenied: { call: true, by: true, reason: true },
  postStep: history,
  preStop: { ...history, text: true, followUps: true },
  preDelegation: { agent: true, type: true, message: true, instructions: true, context: true, metadata: true },
  postDelegation: { delegation: true, result: true, executed: true },
  preCompaction: { messages: true, budget: true, trigger: true, hint: true },
  postCompaction: { removedCount: true, summary: true, budget: true, trigger: true },
  onBudget: { kind: true, level: true, limit: true, scope: true, used: true },
  onSignal: { name: true, payload: true, blockable: true }
}
