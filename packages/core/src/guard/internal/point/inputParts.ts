/**
 * Checks the parts of a turn's input that the model reads beside the message: what was said before, and the
 * instructions and tools of a client. The `preTurn` hooks run once for each part, as for the message.
 */
import * as Result from "effect/Result"
import type { Json, JsonObject } from "../../../data/Json.ts"
import { type FilePart, type Message, text, type ToolCall } from "../../../data/Message.ts"
import { defined } from "../../../data/option/Fields.ts"
import type { ClientTool, TurnInput } from "../../../data/Turn.ts"
import type { Outcome } from "../../../hook/HookChain.ts"
import type { Step } from "../state/yieldable.ts"
import { askHooks } from "./askHooks.ts"
import type { GuardTurn } from "./guardTurn.ts"

type Part = NonNullable<TurnInput["part"]>

/** The parts with the changes of the hooks, or the decision about the first part that did not pass. */
export interface CheckedParts {
  readonly parts: Pick<TurnInput, "before" | "instructions" | "tools">
  readonly stop?: Outcome<"preTurn">
}

/** Checks all parts of an input. */
export const checkParts = function*(turn: GuardTurn, input: TurnInput): Step<CheckedParts> {
  const { before, instructions, tools } = input
  if (!turn.hasHooks("preTurn")) return { parts: defined({ before, instructions, tools }) }
  const check = new PartCheck(turn, input)
  const parts = defined({
    instructions: instructions === undefined ? undefined : yield* check.text("instructions", instructions),
    tools: tools === undefined ? undefined : (yield* check.each(tools, (tool) => check.tool(tool))).flat(),
    before: before === undefined ? undefined : yield* check.each(before, (message) => check.message(message))
  })
  return check.stop === undefined ? { parts } : { parts: {}, stop: check.stop }
}

/** Checks the result of a client's tool. Returns it with the changes of the hooks, or their decision. */
export const checkResult = function*(
  turn: GuardTurn,
  output: Json
): Step<{ readonly output: Json; readonly stop?: Outcome<"preTurn"> }> {
  if (!turn.hasHooks("preTurn")) return { output }
  const check = new PartCheck(turn, turn.state.input)
  const checked = yield* check.json("result", output)
  return check.stop === undefined ? { output: checked } : { output: checked, stop: check.stop }
}

/** A class, because it is the state of one check: after the first decision, nothing more is asked. */
class PartCheck {
  stop: Outcome<"preTurn"> | undefined = undefined
  private readonly turn: GuardTurn
  private readonly input: TurnInput
  /** What hooks make of each name. A name that stands in several places is checked once. */
  private readonly names = new Map<string, string>()

  constructor(turn: GuardTurn, input: TurnInput) {
    this.turn = turn
    this.input = input
  }

  *each<A, B>(all: ReadonlyArray<A>, check: (one: A) => Step<B>): Step<ReadonlyArray<B>> {
    const checked: Array<B> = []
    for (const one of all) checked.push(yield* check(one))
    return checked
  }

  *text(part: Part, message: string): Step<string> {
    return (yield* this.ask(part, message, [])).message
  }

  /** A value that is not text is checked as JSON. What hooks make of it may be any text. */
  *json(part: Part, value: Json): Step<Json> {
    if (typeof value === "string") return yield* this.text(part, value)
    const given = JSON.stringify(value)
    const checked = yield* this.text(part, given)
    return checked === given ? value : parsed(checked)
  }

  /** A tool whose name hooks change is left out, because its client would not know another name. */
  *tool(tool: ClientTool): Step<ReadonlyArray<ClientTool>> {
    if ((yield* this.name("tools", tool.name)) !== tool.name) return []
    const description = yield* this.text("tools", tool.description)
    const inputSchema = yield* this.json("tools", tool.inputSchema)
    // Without its schema, the model still knows what the tool is for.
    return [{ ...tool, description, inputSchema: isObject(inputSchema) ? inputSchema : { type: "object" } }]
  }

  *message(message: Message): Step<Message> {
    if (message.role === "tool") {
      const toolName = yield* this.name("before", message.toolName)
      return { ...message, toolName, content: yield* this.json("before", message.content) }
    }
    if (message.role === "assistant") {
      const content = yield* this.text("before", message.content)
      const { toolCalls } = message
      return toolCalls === undefined
        ? { ...message, content }
        : { ...message, content, toolCalls: yield* this.each(toolCalls, (call) => this.call(call)) }
    }
    const files = filesOf(message)
    const given = text(message)
    const { attachments = [], message: checked } = yield* this.ask("before", given, files)
    if (checked === given && attachments === files) return message
    const content = attachments.length === 0 ? checked : [{ type: "text" as const, text: checked }, ...attachments]
    return { ...message, content }
  }

  private *call(call: ToolCall): Step<ToolCall> {
    const name = yield* this.name("before", call.name)
    return { ...call, name, args: yield* this.json("before", call.args) }
  }

  /** Hooks may make any text of a name, and providers take only some letters, so a changed name is always the same. */
  private *name(part: Part, name: string): Step<string> {
    const before = this.names.get(name)
    if (before !== undefined) return before
    const checked = (yield* this.text(part, name)) === name ? name : "changed_name"
    this.names.set(name, checked)
    return checked
  }

  private *ask(part: Part, message: string, attachments: ReadonlyArray<FilePart>): Step<TurnInput> {
    const files = attachments.length === 0 ? {} : { attachments }
    if (this.stop !== undefined || (message === "" && attachments.length === 0)) return { message, ...files }
    const { metadata } = this.input
    const asked: TurnInput = { message, ...files, ...(metadata === undefined ? {} : { metadata }), part }
    const outcome = yield* askHooks(this.turn, "preTurn", asked)
    if (outcome === undefined) return asked
    const tag = outcome.action._tag
    if (tag === "Reject" || tag === "Abort" || tag === "Respond") this.stop = outcome
    return outcome.event
  }
}

const filesOf = ({ content }: Message): ReadonlyArray<FilePart> =>
  Array.isArray(content) ? content.filter((part): part is FilePart => Object(part).type === "file") : []

const isObject = (value: Json): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** What is not JSON stays text. */
const parsed = (given: string): Json =>
  // `JSON.parse` returns JSON.
  Result.getOrElse(Result.try(() => JSON.parse(given) as Json), () => given)
