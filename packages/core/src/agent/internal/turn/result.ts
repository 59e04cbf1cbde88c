/** Makes the result of a turn: plain data, which does not change when the conversation continues. */
import type { Message } from "../../../data/Message.ts"
import type { Aborted, Completed, Limited, Parked, RunCommon, Suspended } from "../../../guard/RunResult.ts"
import type { HookRecord } from "../../../hook/HookRecord.ts"
import type { Turn } from "../running/turn.ts"

/** The fields of one kind of result, in addition to the common ones. */
type Specific =
  | Omit<Completed, keyof RunCommon>
  | Omit<Suspended, keyof RunCommon>
  | Omit<Limited, keyof RunCommon>
  | Omit<Parked, keyof RunCommon>
  | Omit<Aborted, keyof RunCommon>

/** Makes the result. `text` is the text for the user. */
export const resultOf = <S extends Specific>(turn: Turn, text: string, specific: S): RunCommon & S => {
  const { io: { records }, messages, session, state } = turn
  const { cost, usage } = turn.spent
  const common = {
    sessionId: session.id,
    turnNumber: state.turnNumber,
    text,
    usage,
    cost,
    steps: state.stepNumber,
    toolCalls: state.toolCalls,
    failOpens: state.failOpens,
    records: records.length === 0 ? noRecords : records.slice()
  }
  const result: RunCommon = messages.length <= smallConversation
    ? { ...common, messages: messages.slice() }
    : Object.assign(copiedWhenRead(messages), common)
  return Object.assign(result, specific)
}

const noRecords: ReadonlyArray<HookRecord> = Object.freeze([])

/** Longer conversations are copied only when they are read, so that the cost of a turn does not grow with them. */
const smallConversation = 1_000

const copiedWhenRead = (log: ReadonlyArray<Message>): Pick<RunCommon, "messages"> => {
  const { length } = log
  let copy: ReadonlyArray<Message> | undefined
  const data = {
    get messages() {
      return copy ??= log.slice(0, length)
    }
  }
  return Object.defineProperty(data, Symbol.for("nodejs.util.inspect.custom"), printed)
}

/** Node would print a getter instead of the messages. */
const printed: PropertyDescriptor = {
  value(this: object) {
    return { ...this }
  }
}
