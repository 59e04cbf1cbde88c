/** What a conversation with a foreign agent is made of, and how its messages are read. */
import type { ContentBlock, PermissionOption } from "@agentclientprotocol/sdk"
import type { JsonObject } from "@belay/core/Json"
import type { ToolCall } from "@belay/core/Message"
import type { CommandEnd } from "./machine.ts"
import { loadPeer, passOn } from "./peer.ts"

/** How to start a foreign agent. */
export interface Start {
  readonly command: string
  readonly args: ReadonlyArray<string>
  readonly env: { readonly [name: string]: string }
  readonly cwd: string
  readonly startTimeoutMs: number
  readonly files: "none" | "read" | "write"
  readonly terminal: boolean
}

/** How a call of the agent ended, after all hooks. */
export interface Ended {
  readonly ok: boolean
  /** The output, or the reason. */
  readonly output: unknown
}

/** Why a call waits, and what its answer is for. */
export interface Waiting {
  /** What the tool does when hooks and people have allowed the call. */
  readonly kind: "permission" | "read" | "write" | "terminal"
  readonly args: JsonObject
  readonly end: (ended: Ended) => void
}

/** What happens next: the agent wants something, or it has finished. */
export type Next =
  | { readonly type: "calls"; readonly text: string; readonly calls: ReadonlyArray<ToolCall> }
  | { readonly type: "done"; readonly text: string; readonly stopReason: string }

/** What the agent has used since it was asked for the last time, where it says so. */
export interface Spent {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly costUsd?: number
}

/** How many milliseconds a cancelled agent has to put things in order. */
export const graceMs = 2_000

/** What a started agent can be asked. */
export interface Connected {
  readonly prompt: (prompt: Array<ContentBlock>) => Promise<{ readonly stopReason: string }>
  readonly cancel: () => Promise<void>
  readonly close: () => void
}

/** Fails later, because the end of the process says more than the end of its connection. That is `isCut` then. */
export const patient = <A>(promise: Promise<A>, isCut: () => boolean): Promise<A> =>
  promise.catch((error: Error) =>
    new Promise((_, reject) => void setTimeout(() => reject(error), isCut() ? 5_000 : 200).unref())
  )

/** Leaves out what the agent has left out. */
export const given = (fields: { readonly [name: string]: string | number | null | undefined }): JsonObject =>
  Object.fromEntries(
    Object.entries(fields).filter((entry): entry is [string, string | number] => (entry[1] ?? undefined) !== undefined)
  )

/** Permission is given once, so that every call is asked for. */
export const outcomeOf = (options: ReadonlyArray<PermissionOption>, isAllowed: boolean) => {
  const wanted = isAllowed ? ["allow_once"] : ["reject_once", "reject_always"]
  const option = wanted.flatMap((kind) => options.find((one) => one.kind === kind) ?? [])[0]
  return option === undefined
    ? { outcome: "cancelled" as const }
    : { outcome: "selected" as const, optionId: option.optionId }
}

export const textOf = ({ ok, output }: Ended): string => {
  const text = typeof output === "string" ? output : isCommandEnd(output) ? output.output : JSON.stringify(output ?? "")
  if (!ok) throw new Error(text)
  return text
}

export const isCommandEnd = (output: unknown): output is CommandEnd =>
  typeof output === "object" && output !== null && "output" in output && typeof output.output === "string" &&
  "exitCode" in output

export const load = () => loadPeer("@agentclientprotocol/sdk", () => import("@agentclientprotocol/sdk").catch(passOn))
