/** Applies the verdict of Gemini CLI hooks to model calls and tool calls. */
import * as HookAction from "@belay/core/HookAction"
import type { HookContext } from "@belay/core/HookContext"
import type { LlmRequest } from "@belay/core/LlmCall"
import type { ToolMeta } from "@belay/core/Tool"
import * as Effect from "effect/Effect"
import { type Effects, onVerdict } from "../../engine/effects.ts"
import { noVerdict } from "./answer.ts"
import { note, type Setup } from "./effects.ts"
import * as Model from "./model.ts"
import * as Calls from "./toolCalls.ts"

const none = Effect.succeed(noVerdict)

export const make = (setup: Setup): Effects => ({ ...modelEffects(setup), ...callEffects(setup) })

const modelEffects = (setup: Setup): Effects => {
  const { engine, fire, memory, transcript } = setup
  const hasAfter = engine.has("AfterModel")
  return {
    preLlmCall: {
      events: ["BeforeModel", "BeforeToolSelection", "AfterTool"],
      run: (request, ctx) => {
        memory.offer(ctx.sessionId, request.tools)
        return engine.has("BeforeModel", "BeforeToolSelection") ? beforeModel(setup, request, ctx) : undefined
      }
    },
    postLlmCall: hasAfter || transcript !== undefined
      ? ({ request, response }, ctx) => {
        note(setup, ctx, { role: "assistant", content: response.text, toolCalls: response.toolCalls })
        if (!hasAfter) return undefined
        const fields = { llm_request: Model.toHookRequest(request), llm_response: Model.toHookResponse(response) }
        return onVerdict(fire("AfterModel", fields, ctx), ({ denied, response: wanted, stopped }) => {
          if (stopped !== undefined) return HookAction.abort(stopped)
          if (denied !== undefined) return HookAction.reject(denied)
          const answer = wanted === undefined ? undefined : Model.answerOf(wanted)
          return answer === undefined ? undefined : HookAction.transform({ ...response, text: answer.text })
        })
      }
      : undefined
  }
}

/** Runs `BeforeModel` and `BeforeToolSelection`. They can change the request, or answer in place of the model. */
const beforeModel = Effect.fnUntraced(function*({ fire, name, tools }: Setup, asked: LlmRequest, ctx: HookContext) {
  const before = yield* fire("BeforeModel", { llm_request: Model.toHookRequest(asked) }, ctx) ?? none
  const { denied, request: wanted, response, stopped } = before
  if (stopped !== undefined) return HookAction.abort(stopped)
  const answer = response === undefined ? undefined : Model.answerOf(response)
  if (answer !== undefined) return HookAction.respond({ model: asked.model ?? name, toolCalls: [], ...answer })
  if (response !== undefined) ctx.warn("llm_response does not count: it has no text")
  if (denied !== undefined) return HookAction.reject(denied)
  const request = wanted === undefined ? asked : Model.applyChanges(asked, wanted, ctx.warn)
  const selection = yield* fire("BeforeToolSelection", { llm_request: Model.toHookRequest(request) }, ctx) ?? none
  const { allowed = [], mode } = selection
  if (mode === undefined && allowed.length === 0) {
    return request === asked ? undefined : HookAction.transform(request)
  }
  const namesOf = (tool: ToolMeta) => [tool.name, tools.nameOf(tool.name)]
  return HookAction.transform(Model.selectTools(request, selection, namesOf))
})

const callEffects = (setup: Setup): Effects => {
  const { engine, fire, memory, tools, transcript } = setup
  const calls = Calls.make({
    fire,
    tools,
    toolNamed: (name, { sessionId }) => {
      const offered = memory.offered(sessionId)
      return offered.find((tool) => tool.name === name) ?? offered.find((tool) => tools.nameOf(tool.name) === name)
    }
  })
  return {
    preToolCall: {
      events: ["BeforeTool"],
      run: ({ args, id, name, tool: about }, ctx) => {
        const call = { name, args, about }
        return onVerdict(calls.fireForTool("BeforeTool", call, ctx), ({ asked, denied, stopped, toolInput }) => {
          if (stopped !== undefined) return HookAction.abort(stopped)
          if (denied !== undefined) return HookAction.reject(denied)
          if (asked !== undefined && toolInput === undefined) return HookAction.ask(asked)
          // The call is rejected because the person would approve the original arguments, but the tool would run with
          // the changed arguments.
          if (asked !== undefined) {
            return HookAction.reject(
              `one hook asks for approval of ${name} and another changes its input, which is not possible together`
            )
          }
          return toolInput === undefined
            ? undefined
            : HookAction.transform({ id, name, args: calls.merged(call, toolInput) })
        })
      }
    },
    postToolCall: engine.has("AfterTool") || transcript !== undefined
      ? ({ call, executed, result, tool: about }, ctx) => {
        const content = result.ok ? result.output : result.error
        note(setup, ctx, { role: "tool", toolCallId: call.id, content, isError: !result.ok })
        if (!executed || !engine.has("AfterTool")) return undefined
        return Effect.map(calls.afterTool({ ...call, about }, result, ctx), (last) => {
          if (typeof last === "string") return HookAction.abort(last)
          return last === result ? undefined : HookAction.transform(last)
        })
      }
      : undefined
  }
}
