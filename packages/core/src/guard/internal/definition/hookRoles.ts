/** Groups the hooks of a chain by what they do. */
import type { AgentHook } from "../../../hook/AgentHook.ts"
import type * as HookChain from "../../../hook/HookChain.ts"

/** The hooks of an agent that do more than answer at points, by what they do. It is derived from the chain. */
export interface HookRoles {
  readonly chain: HookChain.HookChain
  /** Hooks with `wrapLlmCall`, outermost first. */
  readonly llmWrappers: ReadonlyArray<AgentHook<never>>
  /** Hooks with `wrapToolCall`, outermost first. Confidential hooks are innermost. */
  readonly toolWrappers: ReadonlyArray<AgentHook<never>>
  /** Hooks with `concealMessages`. They change messages that come from memory or that a session starts with. */
  readonly concealers: ReadonlyArray<AgentHook<never>>
  /** Hooks with `revealText`. They change the text for the user only. */
  readonly revealers: ReadonlyArray<AgentHook<never>>
  /** Whether model calls must be streamed, because a hook inspects or buffers deltas. */
  readonly streams: boolean
}

/** Groups the hooks of a chain by what they do. Shadow hooks only answer at points. */
export const hookRoles = (chain: HookChain.HookChain): HookRoles => {
  const hooks = chain.hooks.filter(({ mode }) => mode !== "shadow")
  const toolWrappers = hooks.filter(({ wrapToolCall }) => wrapToolCall !== undefined)
  return {
    chain,
    llmWrappers: hooks.filter(({ wrapLlmCall }) => wrapLlmCall !== undefined),
    // Confidential hooks exchange arguments and results with the tool that no other wrapper may see.
    toolWrappers: [
      ...toolWrappers.filter(({ confidential }) => confidential !== true),
      ...toolWrappers.filter(({ confidential }) => confidential === true)
    ],
    concealers: hooks.filter(({ concealMessages }) => concealMessages !== undefined),
    revealers: hooks.filter(({ revealText }) => revealText !== undefined),
    streams: chain.has("onLlmDelta") || hooks.some(({ hold }) => hold !== undefined && hold !== "none")
  }
}
