/** Applies the verdict of Cursor's hooks to tool calls and their results. */
import * as HookAction from "@belay/core/HookAction"
import type { HookContext } from "@belay/core/HookContext"
import type { In } from "@belay/core/HookPoint"
import type { Json, JsonObject } from "@belay/core/Json"
import * as Effect from "effect/Effect"
import { resolve } from "node:path"
import type { Effects } from "../../engine/effects.ts"
import { objectOf } from "../../internal/fields.ts"
import { read } from "../../internal/files.ts"
import { editsOf } from "../shared/fileEdits.ts"
import { noVerdict, type Verdict } from "./answer.ts"
import { inject, type Setup } from "./effects.ts"
import type { EventName } from "./events.ts"
import { type Call, type CursorCall, cursorCall } from "./tools.ts"
import { fields as fieldNames } from "./wire.ts"

const none = Effect.succeed(noVerdict)

/** The most bytes of a file that an entry of `beforeReadFile` reads. */
const maxContent = 1_048_576

export const make = (setup: Setup): Effects => {
  const { engine, events, hasTranscript, toolNames } = setup
  const after = ["postToolUse", "postToolUseFailure", "afterShellExecution", "afterMCPExecution", "afterFileEdit"]
  return {
    preToolCall: {
      events: ["preToolUse", "beforeShellExecution", "beforeMCPExecution", "beforeReadFile"],
      run: (call, ctx) => beforeTool(setup, call, ctx)
    },
    postToolCall: engine.has(...after) || hasTranscript
      ? (done, ctx) => {
        const { call, executed, result } = done
        const content = result.ok ? result.output : result.error
        events.note(ctx, { role: "tool", toolCallId: call.id, content, isError: !result.ok })
        return executed && engine.has(...after) ? afterTool(setup, done, ctx) : undefined
      }
      : undefined,
    onToolDenied: {
      events: ["postToolUseFailure"],
      run: ({ call, reason }, ctx) => {
        const known = cursorCall(call, toolNames, ctx)
        const fields = failureFields(reason, "permission_denied", 0)
        return Effect.asVoid(
          events.fire("postToolUseFailure", { ...about(known, call, ctx), ...fields }, ctx, [known.name]) ?? none
        )
      }
    }
  }
}

const about = ({ input, name }: CursorCall, { id }: Call, { cwd }: HookContext): JsonObject => ({
  [fieldNames.tool]: name,
  [fieldNames.input]: input,
  [fieldNames.call]: id,
  cwd
})

const failureFields = (error: string, type: string, duration: number): JsonObject => ({
  [fieldNames.error]: error,
  failure_type: type,
  duration,
  is_interrupt: false
})

const beforeTool = Effect.fnUntraced(function*({ events, toolNames }: Setup, call: Call, ctx: HookContext) {
  let known = cursorCall(call, toolNames, ctx)
  const first = yield* events.fire("preToolUse", about(known, call, ctx), ctx, [known.name]) ?? none
  if (first.denied !== undefined) return HookAction.reject(first.denied)
  // The entry can name only the fields that it changes.
  const args = first.input === undefined ? call.args : known.back({ ...known.input, ...first.input })
  if (first.input !== undefined) known = cursorCall({ ...call, args }, toolNames, ctx)
  const own = ownEvent(known, ctx)
  const second: Verdict = own === undefined
    ? noVerdict
    : yield* events.fire(own.event, own.fields(), ctx, own.subjects) ?? none
  if (second.denied !== undefined) return HookAction.reject(second.denied)
  const asks = first.asks ?? second.asks
  const wanted = { id: call.id, name: call.name, args }
  if (asks !== undefined) return HookAction.ask(asks, undefined, first.input === undefined ? {} : { args })
  return first.input === undefined ? undefined : HookAction.transform(wanted)
})

interface OwnEvent {
  readonly event: EventName
  readonly fields: () => JsonObject
  readonly subjects: ReadonlyArray<string>
}

/** The event of Cursor about this kind of tool. */
const ownEvent = ({ claude, input, mcp, name }: CursorCall, { cwd }: HookContext): OwnEvent | undefined => {
  if (mcp !== undefined) {
    const fields = () => ({ tool_name: mcp, tool_input: JSON.stringify(input) })
    return { event: "beforeMCPExecution", fields, subjects: [name, mcp] }
  }
  if (claude === "Bash") {
    const command = textOf(input["command"])
    const fields = () => ({ command, cwd, sandbox: false })
    return { event: "beforeShellExecution", fields, subjects: [command] }
  }
  if (claude !== "Read") return undefined
  const path = textOf(input["file_path"])
  const fields = () => ({ file_path: path, content: contentOf(resolve(cwd, path)), attachments: [] })
  return { event: "beforeReadFile", fields, subjects: [name] }
}

/** Returns the text of a file. Returns the empty text if it is not a file on this machine, or is too large. */
const contentOf = (path: string): string => {
  const content = read(path, maxContent)
  return content === "absent" || "problem" in content ? "" : content.bytes.toString("utf8")
}

const afterTool = Effect.fnUntraced(function*(
  { events, toolNames }: Setup,
  { call, elapsedMs, result, tool }: In<"postToolCall">,
  ctx: HookContext
) {
  const known = cursorCall({ ...call, tool }, toolNames, ctx)
  const common = about(known, call, ctx)
  if (!result.ok) {
    const type = /\btim(?:ed|e) ?out\b/i.test(result.error) ? "timeout" : "error"
    const fields = { ...common, ...failureFields(result.error, type, elapsedMs) }
    yield* events.fire("postToolUseFailure", fields, ctx, [known.name]) ?? none
    return undefined
  }
  const { output } = result
  const own = doneEvent(known, output, elapsedMs)
  if (own !== undefined) yield* events.fire(own.event, own.fields(), ctx, own.subjects) ?? none
  const fields = { ...common, [fieldNames.output]: JSON.stringify(shownOf(known, output)), duration: elapsedMs }
  const verdict: Verdict = yield* events.fire("postToolUse", fields, ctx, [known.name]) ?? none
  inject(verdict, ctx)
  if (verdict.output === undefined) return undefined
  if (known.mcp !== undefined) return HookAction.transform({ ok: true as const, output: verdict.output })
  ctx.warn("updated_mcp_tool_output does not count: the tool does not belong to an MCP server")
  return undefined
})

/** The event of Cursor after this kind of tool. */
const doneEvent = (known: CursorCall, output: Json, duration: number): OwnEvent | undefined => {
  const { claude, input, mcp, name } = known
  if (mcp !== undefined) {
    const fields = () => ({
      tool_name: mcp,
      tool_input: JSON.stringify(input),
      result_json: JSON.stringify(output),
      duration
    })
    return { event: "afterMCPExecution", fields, subjects: [name, mcp] }
  }
  if (claude === "Bash") {
    const command = textOf(input["command"])
    const fields = () => ({ command, output: printed(output), duration, sandbox: false })
    return { event: "afterShellExecution", fields, subjects: [command] }
  }
  if (name !== "Write") return undefined
  const fields = () => ({ file_path: textOf(input["file_path"]), edits: editsOf({ name: claude, input }) })
  return { event: "afterFileEdit", fields, subjects: [name] }
}

/** Returns what a shell printed: the text, or the text of the object's usual field. */
const printed = (output: Json): string => {
  if (typeof output === "string") return output
  const fields = objectOf(output)
  const found = ["stdout", "output"].map((key) => fields[key]).find((one) => typeof one === "string")
  return typeof found === "string" ? found : JSON.stringify(output)
}

/** Returns the result in the format of Cursor: an object for a shell, otherwise what the tool returned. */
const shownOf = ({ claude }: CursorCall, output: Json): Json =>
  claude === "Bash" && typeof output === "string" ? { exitCode: 0, stdout: output } : output

const textOf = (value: Json | undefined): string => typeof value === "string" ? value : ""
