/** Applies the answers of Kodelet hooks at each hook point of the agent. */
import * as HookAction from "@belay/core/HookAction"
import type { HookContext } from "@belay/core/HookContext"
import type { In } from "@belay/core/HookPoint"
import type { JsonObject } from "@belay/core/Json"
import { type Message, text, type ToolCall } from "@belay/core/Message"
import type { ToolMeta } from "@belay/core/Tool"
import * as Effect from "effect/Effect"
import type { Effects } from "../../engine/effects.ts"
import type * as Engine from "../../engine/runEntries.ts"
import { type Known, known, type ToolNames } from "../shared/toolNames.ts"
import type { Answer, Change } from "./answer.ts"
import type { Entry, Input } from "./dialect.ts"
import { type Recipes, runRecipe } from "./recipes.ts"
import type { Turns } from "./turns.ts"
import type { TypedEntries } from "./typedEntries.ts"
import type * as Usage from "./usage.ts"

export interface Setup {
  /** The name of the hook. */
  readonly name: string
  readonly engine: Engine.Engine<Entry, Input, Answer, ReadonlyArray<Answer>>
  readonly entries: TypedEntries
  readonly turns: Turns
  readonly usage: ReturnType<typeof Usage.make>
  readonly toolNames: ToolNames
  readonly recipes: Recipes
  readonly autoCompact: number | undefined
  /** Whether an executable that cannot report its type blocks prompts and tool calls. */
  readonly blockOnError: boolean
}

export const make = (setup: Setup): Effects => ({
  onSessionEnd: (_end, ctx) => ctx.agent.depth > 0 ? undefined : setup.engine.end(ctx.root.sessionId),
  preTurn: (input, ctx) => beforeTurn(setup, input, ctx),
  preToolCall: (call, ctx) => beforeTool(setup, call, ctx),
  postToolCall: (done, ctx) => afterTool(setup, done, ctx),
  postStep: (step, ctx) => afterStep(setup, step, ctx),
  preStop: (stop, ctx) => beforeStop(setup, stop, ctx),
  preCompaction: (request, ctx) => compact(setup, request, ctx)
})

const none: Effect.Effect<undefined> = Effect.undefined

/**
 * Returns a reason to block if an executable failed to report its type and `onBroken` is `block`, because the
 * executable could be a guard.
 */
const brokenReason = ({ blockOnError, entries }: Setup, ctx: HookContext): Effect.Effect<string | undefined> =>
  blockOnError
    ? Effect.map(
      entries.all(ctx),
      ({ broken }) => broken.length === 0 ? undefined : `a hook broke: ${broken.join("; ")}`
    )
    : none

const beforeTurn = Effect.fnUntraced(function*(
  setup: Setup,
  { message, metadata = {}, steer }: In<"preTurn">,
  ctx: HookContext
) {
  if (ctx.agent.depth === 0 && steer !== true) setup.turns.start(metadata, ctx)
  const broken = yield* brokenReason(setup, ctx)
  if (broken !== undefined) return HookAction.reject(`message blocked by hook: ${broken}`)
  const entries = yield* setup.entries.of(ctx, "user_message_send")
  const { answers } = yield* setup.engine.run(entries, { fields: { message } }, ctx)
  const blocked = answers.at(-1)?.blocked
  return blocked === undefined ? undefined : HookAction.reject(`message blocked by hook: ${blocked}`)
})

/** Converts a call to the tool names of executables. Every shell tool is `bash`. Other tools keep their names. */
const knownCall = (toolNames: ToolNames, call: ToolCall, about: ToolMeta | undefined, ctx: HookContext): Known => {
  const one = known(call.name, call.args, toolNames, ctx.cwd, about)
  if (Object.hasOwn(toolNames, call.name)) return one
  return one.name === "Bash"
    ? { ...one, name: "bash" }
    : known(call.name, call.args, { [call.name]: { name: call.name } }, ctx.cwd, about)
}

const beforeTool = Effect.fnUntraced(function*(setup: Setup, call: In<"preToolCall">, ctx: HookContext) {
  const { engine, toolNames } = setup
  const broken = yield* brokenReason(setup, ctx)
  if (broken !== undefined) return HookAction.reject(broken)
  const { back, input: args, name } = knownCall(toolNames, call, call.tool, ctx)
  const entries = yield* setup.entries.of(ctx, "before_tool_call")
  const { refused } = yield* setup.entries.all(ctx)
  const fields: JsonObject = { tool_name: name, tool_input: args, tool_user_id: call.id }
  const first = yield* engine.run(entries, { fields }, ctx)
  // If an executable of the project changed the input, the user's executables before it run again with the new input.
  const last = first.answers.findLastIndex(({ input }, index) => input !== undefined && entries[index]!.ofProject)
  const isBlocked = first.answers.at(-1)?.blocked !== undefined
  const again = isBlocked ? [] : entries.slice(0, Math.max(last, 0)).filter(({ ofProject }) => !ofProject)
  const second = yield* engine.run(again, first.input, ctx)
  const answers = [...first.answers, ...second.answers]
  const blocked = answers.at(-1)?.blocked
  if (blocked !== undefined) return HookAction.reject(blocked)
  // The field `tool_input` is always an object.
  const input = second.input.fields["tool_input"] as JsonObject
  const changed = input === args ? undefined : back(input)
  // An executable that may not run could be a guard, because its type is unknown.
  const asks = refused[0]?.why ?? answers.find((answer) => answer.asks !== undefined)?.asks
  if (asks !== undefined) return HookAction.ask(asks, undefined, changed === undefined ? {} : { args: changed })
  return changed === undefined ? undefined : HookAction.transform({ id: call.id, name: call.name, args: changed })
})

const afterTool = Effect.fnUntraced(function*(
  { engine, entries, toolNames }: Setup,
  { call, executed, result, tool: about }: In<"postToolCall">,
  ctx: HookContext
) {
  if (!executed) return undefined
  const { input: args, name: tool } = knownCall(toolNames, call, about, ctx)
  const fields = { tool_name: tool, tool_input: args, tool_user_id: call.id }
  const input = { fields, result: { tool, current: result } }
  const last = yield* engine.run(yield* entries.of(ctx, "after_tool_call"), input, ctx)
  const changed = last.input.result?.current ?? result
  return changed === result ? undefined : HookAction.transform(changed)
})

const compactionFields = ({ autoCompact }: Setup): JsonObject =>
  autoCompact === undefined || autoCompact === 0
    ? { auto_compact_enabled: false }
    : { auto_compact_enabled: true, auto_compact_threshold: autoCompact }

const afterStep = Effect.fnUntraced(function*(setup: Setup, step: In<"postStep">, ctx: HookContext) {
  const { autoCompact = 0, turns } = setup
  const { share, steps, usage } = setup.usage(step, ctx, !ctx.askedAgain)
  if (!turns.isOff(ctx) && autoCompact > 0 && step.budget.windowTokens > 0 && share >= autoCompact) {
    return yield* changeHistory(setup, { type: "callback", recipe: "compact", args: {} }, step.messages, ctx)
  }
  const last = step.messages.findLast((message) => message.role === "assistant")
  const usedTools = (last?.toolCalls ?? []).length > 0
  const afterTurn = { turn_number: steps, tools_used: usedTools, usage, ...compactionFields(setup) }
  const turnEnd = { turn_number: steps, response: last === undefined ? "" : text(last) }
  let change: Change | undefined
  for (const entry of yield* setup.entries.of(ctx, "after_turn", "turn_end")) {
    const fields = entry.type === "after_turn" ? afterTurn : turnEnd
    const { answers } = yield* setup.engine.run([entry], { fields }, ctx)
    change = firstChange(change, answers[0]?.change, entry, ctx)
  }
  return yield* changeHistory(setup, change, step.messages, ctx)
})

const beforeStop = Effect.fnUntraced(function*(setup: Setup, stop: In<"preStop">, ctx: HookContext) {
  const { usage } = setup.usage(stop, ctx, false)
  const fields = {
    messages: stop.messages.flatMap(spokenMessage),
    usage,
    invoked_recipe: setup.turns.recipe(ctx) ?? "",
    ...compactionFields(setup)
  }
  const entries = yield* setup.entries.of(ctx, "agent_stop")
  const { answers } = yield* setup.engine.run(entries, { fields }, ctx)
  const change = answers.reduce<Change | undefined>(
    (before, answer, index) => firstChange(before, answer.change, entries[index]!, ctx),
    undefined
  )
  if (change === undefined) answers.flatMap(({ followUps }) => followUps).forEach((one) => ctx.followUp(one))
  return yield* changeHistory(setup, change, stop.messages, ctx)
})

const spokenMessage = (message: Message): ReadonlyArray<JsonObject> => {
  const content = message.role === "tool" ? "" : text(message)
  return content === "" ? [] : [{ role: message.role, content }]
}

/** Keeps the first change of the history. Warns about each later change. */
const firstChange = (
  change: Change | undefined,
  next: Change | undefined,
  { key }: Entry,
  ctx: HookContext
): Change | undefined => {
  if (change === undefined || next === undefined) return change ?? next
  const what = next.type === "mutate" ? "change the history" : "run a recipe"
  ctx.warn(`${key} wants to ${what}, but an earlier hook did so already`)
  return change
}

/** Applies a change of the history. Returns undefined if there is no change. */
const changeHistory = (
  { name, recipes }: Setup,
  change: Change | undefined,
  messages: ReadonlyArray<Message>,
  ctx: HookContext
) => {
  if (change === undefined) return none
  if (change.type === "mutate") return Effect.succeed(HookAction.transform(change.messages))
  return Effect.map(
    runRecipe(change.recipe, { messages, args: change.args, ctx }, recipes),
    (content) =>
      content === undefined ? undefined : HookAction.transform([{ role: "user" as const, content, source: name }])
  )
}

const compact = (
  { autoCompact, name, recipes }: Setup,
  { messages, trigger }: In<"preCompaction">,
  ctx: HookContext
) => {
  if (trigger !== "manual" || (autoCompact === undefined && !Object.hasOwn(recipes, "compact"))) return undefined
  return Effect.map(runRecipe("compact", { messages, args: {}, ctx }, recipes), (summary) => {
    if (summary === undefined) return undefined
    const pinned = messages.filter((message) => message.role === "user" && message.pinned === true)
    return HookAction.respond({
      messages: [...pinned, { role: "user" as const, content: summary, source: name }],
      summary
    })
  })
}
