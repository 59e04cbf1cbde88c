/** The types of a hook for some tools: its events have the names and arguments of these. */
import type { Json } from "../../data/Json.ts"
import type { ToolCall } from "../../data/Message.ts"
import type {
  OnPermissionEvent,
  OnToolDeniedEvent,
  PostToolCallEvent,
  PreToolCallEvent,
  ToolRef
} from "../../data/tool/Tool.ts"
import type { AgentHook, HookReturn, HookReturnOf } from "../AgentHook.ts"
import type * as HookAction from "../HookAction.ts"
import type { HookContext } from "../HookContext.ts"
import type { ActionAt } from "../HookPoint.ts"

/** The arguments that hooks see of a tool. Those of a name or a pattern are JSON. */
type ShownArgs<F> = F extends ToolRef<string, infer Shown> ? Shown : Json

/** The literal name of a tool. */
type NameOf<F> = F extends ToolRef<infer Name> ? Name : string

type WithArgs<Call, F> = Omit<Call, "args" | "name"> & { readonly name: NameOf<F>; readonly args: ShownArgs<F> }

/** A call of the tool as the action of a hook changes it. */
type PreReturn<F, R> = HookReturnOf<
  | Exclude<ActionAt<"preToolCall">, { readonly _tag: "Transform" | "Replace" }>
  | HookAction.Transform<F extends unknown ? WithArgs<ToolCall, F> : never>
  | HookAction.Replace<F extends unknown ? WithArgs<ToolCall, F> : never>,
  R
>

// One event for each tool, told apart by the name of the tool.
type PreOf<F> = F extends unknown ? WithArgs<PreToolCallEvent, F> : never

type AboutCall<Event extends { readonly call: ToolCall }, F> = F extends unknown
  ? Omit<Event, "call"> & { readonly call: WithArgs<ToolCall, F> }
  : never

/** A hook whose events at the tool points have the arguments of its tools. */
export interface HookFor<F, R> extends Omit<AgentHook<R>, ToolMethod | "tools"> {
  readonly preToolCall?: (event: PreOf<F>, ctx: HookContext) => PreReturn<F, R>
  readonly postToolCall?: (event: AboutCall<PostToolCallEvent, F>, ctx: HookContext) => HookReturn<"postToolCall", R>
  readonly onPermission?: (event: AboutCall<OnPermissionEvent, F>, ctx: HookContext) => HookReturn<"onPermission", R>
  readonly onToolDenied?: (event: AboutCall<OnToolDeniedEvent, F>, ctx: HookContext) => HookReturn<"onToolDenied", R>
}

type ToolMethod = "preToolCall" | "postToolCall" | "onPermission" | "onToolDenied"
