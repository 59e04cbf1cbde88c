/** The agents that work in the background of a turn. */
import * as Cause from "effect/Cause"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import type { AgentError } from "../../../data/AgentError.ts"
import type { Json } from "../../../data/Json.ts"
import { JsonValue } from "../../../data/Message.ts"
import { messageOf } from "../../../data/text/ErrorMessage.ts"
import type { SteerOutcome, TurnInput } from "../../../data/Turn.ts"
import type { Spent } from "../../../guard/internal/state/costMeter.ts"
import type { SessionOwner, Steer } from "../../../guard/internal/state/sessionState.ts"
import type { SubAgentRun } from "../../../guard/internal/state/subAgentRun.ts"
import type { Aborted, Completed, Limited, Parked, Suspended } from "../../../guard/RunResult.ts"
import * as HookState from "../../../hook/HookState.ts"

/** What others read of a turn that has ended. A `RunResult` has it. */
export type EndedTurn =
  | Pick<Completed | Suspended | Parked, "status" | "text">
  | Pick<Limited, "status" | "limit" | "used" | "max">
  | Pick<Aborted, "status" | "reason" | "by">

/** An agent in the background. */
export interface BackgroundAgent {
  readonly id: string
  /** The tool that started it. */
  readonly tool: string
  readonly message: string
  /** Absent if a call that waits has its state. */
  readonly work: {
    readonly sub: SubAgentRun
    readonly fiber: Fiber.Fiber<EndedTurn, AgentError>
    readonly messages: Messages
  } | undefined
  /** Whether a call of `await_agent` has it, and with it its state. */
  isAwaited: boolean
}

const Record = Schema.Struct({
  id: Schema.String,
  tool: Schema.String,
  message: Schema.String,
  child: Schema.optionalKey(JsonValue),
  /** Its answer, or why it has none. Absent while it works or waits. */
  answer: Schema.optionalKey(Schema.String),
  error: Schema.optionalKey(Schema.String)
})

/** What is stored with the turn. No hook has an empty name, so only the runtime writes it. */
const stored = HookState.ownKey("background-agents", Schema.Array(Record), [])("")

/** A class, because it is the state of a turn. */
export class BackgroundAgents {
  readonly agents = new Map<string, BackgroundAgent>()
  private count = 0
  private isFrozen = false

  newId(): string {
    do this.count++
    while (this.agents.has(`agent_${this.count}`))
    return `agent_${this.count}`
  }

  /** Those that nobody has awaited. */
  get open(): ReadonlyArray<BackgroundAgent> {
    return [...this.agents.values()].filter(({ isAwaited }) => !isAwaited)
  }

  /** What those have spent that nobody has awaited. */
  get spent(): ReadonlyArray<Spent> {
    return this.open.flatMap(({ work }) => work === undefined ? [] : [work.sub.spent()])
  }

  /** Writes their states next to that of the turn, so that another process can continue them. */
  save(state: HookState.Store): void {
    if (this.isFrozen) return
    const records = [...this.agents.values()].map(({ id, isAwaited, message, tool, work }) => ({
      id,
      tool,
      message,
      // A `RunState` is JSON. The compiler cannot check that, because the interface has no index signature.
      ...(isAwaited || work === undefined ? {} : { child: work.sub.snapshot() as unknown as Json }),
      ...(isAwaited ? {} : endOf(tool, work?.fiber.pollUnsafe()))
    }))
    state.write(stored, records, "")
  }

  /** Keeps the states as they are, because what follows happens to this process only. */
  freeze(state: HookState.Store): void {
    this.save(state)
    this.isFrozen = true
  }
}

/** How a turn has ended, if it will not continue. */
const endOf = (
  tool: string,
  exit: Exit.Exit<EndedTurn, AgentError> | undefined
): Pick<typeof Record.Type, "answer" | "error"> => {
  if (exit === undefined) return {}
  if (Exit.isFailure(exit)) {
    return Cause.hasInterruptsOnly(exit.cause) ? {} : { error: messageOf(Cause.squash(exit.cause)) }
  }
  const { value } = exit
  if (value.status === "completed") return { answer: value.text }
  return value.status === "limited" ? { error: whyLimited(tool, value) } : {}
}

/** What the calling agent reads when a sub-agent has reached one of its limits. */
export const whyLimited = (tool: string, { limit, max, used }: Pick<Limited, "limit" | "used" | "max">): string =>
  `${tool} was limited: ${limit} ${used} of ${max}`

/** Reads what an earlier process has stored. */
export const storedAgents = (state: HookState.Store): ReadonlyArray<typeof Record.Type> => state.get(stored)

/** Messages to an agent in the background. It stands in for the handle that the session of a lead agent has. */
export class Messages implements SessionOwner {
  steers: ReadonlyArray<Steer> = []
  readonly hub = undefined
  readonly isParking = false
  readonly follow = (): void => {}
  readonly turnEnded = (): void => {}

  send(input: TurnInput, settle: (outcome: SteerOutcome) => void): void {
    this.steers = [...this.steers, { input, settle, delivered: undefined }]
  }

  settleSteer(steer: Steer, outcome: SteerOutcome): void {
    this.steers = this.steers.filter((one) => one !== steer)
    steer.settle(outcome)
  }
}
