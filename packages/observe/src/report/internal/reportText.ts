/** The texts of a report, and which decisions it shows. */
import type { AgentEvent } from "@belay/core/AgentEvent"
import type { Usage } from "@belay/core/Usage"

export const json = (value: unknown): string => typeof value === "string" ? value : JSON.stringify(value) ?? ""

/** All digits of an amount, and at least cents. */
export const dollars = (usd: number): string => `$${usd.toFixed(10).replace(/(\.\d\d\d*?)0+$/, "$1")}`

export const tokens = (usage: Usage | undefined): string =>
  usage === undefined ? "usage not reported" : `${usage.inputTokens} tokens in, ${usage.outputTokens} out`

export const price = (usage: Usage | undefined): string =>
  usage?.costUsd === undefined ? "" : `, ${dollars(usage.costUsd)}`

/**
 * Whether a hook has decided or changed something. A value that is the same afterwards was not changed, and neither is
 * an answer of which a piece was only held back.
 */
export const isRealDecision = (
  { answer, change }: Extract<AgentEvent, { readonly type: "hook" }>["record"]["hooks"][number],
  point: string
): boolean =>
  answer !== "Continue" && answer !== "skipped" &&
  (answer !== "Transform" || (point !== "onLlmDelta" && change?.diff !== noDifference))

/** What the record of a change says if the value is the same. */
const noDifference = "no difference"
