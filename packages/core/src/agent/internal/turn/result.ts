/** Makes the result of a turn. */
import type { Message } from "../../../data/Message.ts"
import type { Usage } from "../../../data/Usage.ts"
import type { HookRecord } from "../../../hook/HookRecord.ts"
import type { Aborted, Completed, Limited, Parked, RunCommon, Suspended } from "../../RunResult.ts"
import type { Turn } from "./turn.ts"

/** The fields of one kind of result, in addition to the common ones. */
type Specific =
  | Omit<Completed, keyof RunCommon>
  | Omit<Suspended, keyof RunCommon>
  | Omit<Limited, keyof RunCommon>
  | Omit<Parked, keyof RunCommon>
  | Omit<Aborted, keyof RunCommon>

/** Makes the result. `text` is the text for the user. */
export const resultOf = <S extends Specific>(turn: Turn, text: string, specific: S): RunCommon & S =>
  Object.assign(new CommonResult(turn, text), specific)

/** A class, because its messages are copied only when they are read. */
class CommonResult implements RunCommon {
  readonly sessionId: string
  readonly turnNumber: number
  readonly text: string
  readonly usage: Usage
  readonly steps: number
  readonly toolCalls: number
  readonly records: ReadonlyArray<HookRecord>
  private readonly log: ReadonlyArray<Message>
  private readonly length: number

  constructor({ io, messages, session, state }: Turn, text: string) {
    this.sessionId = session.id
    this.turnNumber = state.turnNumber
    this.text = text
    this.usage = state.usage
    this.steps = state.stepNumber
    this.toolCalls = state.toolCalls
    this.records = io.records
    this.log = messages
    this.length = messages.length
  }
  get messages(): ReadonlyArray<Message> {
    return this.log.slice(0, this.length)
  }
}
