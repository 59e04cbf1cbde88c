/** Finds the tools that a task requests, clause by clause. */
import type { WireTool } from "../endpoint/wire.ts"
import { weight, withoutQuotes, words } from "./words.ts"

/** A part of the task and the tool that it requests. */
export interface Step {
  readonly tool: WireTool
  readonly clause: string
}

const boundary = /[,;:!?\n]+(?=\s|$)|\.(?=\s|$)|\b(?:and|then|afterwards|finally)\b/giu
const negation = /\b(?:not|never|without|don't|dont|no)\b/iu

/** Returns the steps of a task in its order. */
export const plan = (task: string, tools: ReadonlyArray<WireTool>): ReadonlyArray<Step> => {
  if (tools.length === 0) return []
  const steps: Array<{ tool: WireTool; start: number; end: number }> = []
  for (const [start, end, text] of clauses(withoutQuotes(task))) {
    if (negation.test(text)) continue
    const tool = best(text, tools)
    const previous = steps.at(-1)
    if (tool !== undefined) steps.push({ tool, start, end })
    else if (previous !== undefined) previous.end = end
  }
  return steps.map(({ tool, start, end }) => ({ tool, clause: task.slice(start, end).trim() }))
}

const clauses = (text: string): ReadonlyArray<readonly [number, number, string]> => {
  const found: Array<readonly [number, number, string]> = []
  let start = 0
  for (const match of text.matchAll(boundary)) {
    found.push([start, match.index, text.slice(start, match.index)])
    start = match.index + match[0].length
  }
  found.push([start, text.length, text.slice(start)])
  return found.filter(([, , clause]) => clause.trim() !== "")
}

const best = (clause: string, tools: ReadonlyArray<WireTool>): WireTool | undefined => {
  const said = words(clause)
  let winner: WireTool | undefined
  let record = 1
  for (const tool of tools) {
    const score = rate(tool, said)
    if (score > record) {
      winner = tool
      record = score
    }
  }
  return winner
}

const rate = (tool: WireTool, said: ReadonlyArray<string>): number => {
  let score = 0
  for (const word of new Set(words(tool.name))) {
    const at = said.indexOf(word)
    if (at >= 0) score += weight(word) + (at === 0 ? 1 : 0)
  }
  if (score < 2) return 0
  const about = new Set(words(tool.description))
  return score + 0.1 * said.filter((word) => about.has(word)).length
}
