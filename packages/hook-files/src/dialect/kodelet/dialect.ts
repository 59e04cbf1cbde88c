/** The rules of Kodelet for the engine. */
import { defined } from "@belay/core/Fields"
import type { HookContext } from "@belay/core/HookContext"
import type { JsonObject } from "@belay/core/Json"
import type { ToolResult } from "@belay/core/Tool"
import * as Result from "effect/Result"
import type * as Dialect from "../../engine/Dialect.ts"
import type { CommandWork } from "../../runner/Runners.ts"
import { outcomeOf, outputOf } from "../shared/jsonAnswer.ts"
import { type Answer, applyOutput, read, shown, silent } from "./answer.ts"
import type { Handler } from "./config.ts"
import { guards, type Type } from "./events.ts"

/** An executable whose type is known. */
export interface Entry extends Dialect.Entry<CommandWork>, Pick<Handler, "ofProject"> {
  readonly type: Type
}

export interface Input {
  readonly fields: JsonObject
  /** The result of a tool with the changes of the entries that have run. */
  readonly result?: { readonly tool: string; readonly current: ToolResult }
}

export interface Options {
  /** The name of the hook. */
  readonly name: string
  readonly timeoutMs: number
  /** Returns the recipe that the host set for this turn. */
  readonly recipeOf: (ctx: HookContext) => string | undefined
}

/** The answers of the entries, in order. Their changes are in the input. */
type Verdict = ReadonlyArray<Answer>

export const make = ({ name, recipeOf, timeoutMs }: Options): Dialect.Dialect<Entry, Input, Answer, Verdict> => ({
  name: "kodelet",
  concurrency: () => 1,
  chain: ({ fields, result }, answer) => ({
    fields: answer.input === undefined ? fields : { ...fields, tool_input: answer.input },
    ...defined({ result: result === undefined ? undefined : { ...result, current: changed(result, answer) } })
  }),
  isFinal: ({ blocked }) => blocked !== undefined,
  request: ({ type }, { fields, result }, ctx, { now }) => ({
    input: {
      event: type,
      conv_id: ctx.sessionId,
      cwd: ctx.cwd,
      invoked_by: ctx.agent.invokedBy,
      ...defined({ recipe_name: recipeOf(ctx) }),
      ...fields,
      ...defined({
        tool_output: result && shown(result.tool, result.current, new Date(now).toISOString())
      })
    },
    cwd: ctx.cwd,
    timeoutMs
  }),
  decode: (ending, { type }) => {
    if (ending.type !== "finished") return silent
    const answer = Result.flatMap(outputOf(ending.finished), read(type, name))
    if (Result.isSuccess(answer)) return answer.success
    return { ...silent, outcome: outcomeOf(answer, ending.finished), problem: answer.failure }
  },
  silent,
  guards: ({ type }) => guards.has(type),
  deny: (blocked) => ({ blocked }),
  ask: (asks) => ({ asks }),
  merge: (answers) => answers,
  label: ({ key, type }, { problem }) => problem === undefined ? key : `${key} (${type})`
})

const changed = ({ current, tool }: NonNullable<Input["result"]>, { output }: Answer): ToolResult =>
  output === undefined ? current : applyOutput(current, shown(tool, current, ""), output) ?? current
