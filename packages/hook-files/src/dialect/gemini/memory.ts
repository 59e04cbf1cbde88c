/** Stores what Gemini CLI hooks need about each session between two hook points. */
import type { ToolMeta } from "@belay/core/Tool"
import type { Verdict } from "./answer.ts"

/** The current turn. */
interface Turn {
  readonly prompt: string
  /** Whether `AfterAgent` denied the last answer. */
  readonly isRetried: boolean
  /** The verdict of `AfterAgent` about the answer with which the turn is about to end. */
  readonly verdict?: Verdict
}

export interface Memory {
  readonly turns: Map<string, Turn>
  /** Stores the tools that were offered to the model. */
  readonly offer: (sessionId: string, tools: ReadonlyArray<ToolMeta>) => void
  readonly offered: (sessionId: string) => ReadonlyArray<ToolMeta>
  readonly forget: (sessionId: string) => void
}

/**
 * The maximum number of sessions whose tools are stored. The limit is needed because the end of a sub-agent's session
 * is not reported.
 */
const maxSessions = 1_000

export const make = (): Memory => {
  const offers = new Map<string, ReadonlyArray<ToolMeta>>()
  const turns: Memory["turns"] = new Map()
  return {
    turns,
    offer: (sessionId, tools) => {
      offers.set(sessionId, tools)
      if (offers.size > maxSessions) offers.delete(offers.keys().next().value!)
    },
    offered: (sessionId) => offers.get(sessionId) ?? [],
    forget: (sessionId) => {
      offers.delete(sessionId)
      turns.delete(sessionId)
    }
  }
}
