/** Counts in which texts `PromptInjection` finds an injection, through a tool of an agent. */
import { createAgent, defineTool } from "@belay/core"
import { PromptInjection } from "@belay/hooks"
import { Scripted } from "@belay/testing"
import { benign } from "./benign.ts"
import { documents } from "./documents.ts"
import { fresh, freshBenign } from "./fresh.ts"
import { heldOut } from "./heldOut.ts"
import { kinds, kindsBenign } from "./kinds.ts"
import { seen } from "./seen.ts"

/** How many of some texts were found to be injections. */
export interface Figure {
  readonly texts: string
  readonly found: number
  readonly of: number
}

/** The figures of all sets, each text as the result of a tool. */
export const figures = async (): Promise<ReadonlyArray<Figure>> => {
  const sets: ReadonlyArray<readonly [string, ReadonlyArray<string>]> = [
    ["phrasings that were read while the signals were written", seen],
    ["phrasings that were set aside", heldOut],
    ["short harmless texts that look like injections", benign],
    ["harmless documents of 5 to 50 KB", documents(300)],
    ["later injections, whose kinds were then added", kinds],
    ["hard harmless texts of that set", kindsBenign],
    ["later injections that no signal was changed for", fresh],
    ["hard harmless texts of that set, too", freshBenign]
  ]
  const counted: Array<Figure> = []
  for (const [texts, list] of sets) counted.push({ texts, found: await foundIn(list), of: list.length })
  return counted
}

const foundIn = async (texts: ReadonlyArray<string>): Promise<number> => {
  let found = 0
  let next = 0
  const read = defineTool({
    name: "read",
    description: "Reads the next text",
    input: { type: "object" },
    execute: () => texts[next++]!
  })
  const hooks = [PromptInjection.make({ toolResults: "filter", onDetection: () => void found++ })]
  while (next < texts.length) {
    const calls = texts.slice(next, next + 10).map(() => ({ name: "read", args: {} }))
    const before = next
    await using agent = createAgent({
      provider: Scripted.make([Scripted.toolCalls(...calls), "done"]),
      tools: [read],
      hooks
    })
    await agent.run("Read the texts")
    if (next === before) throw new Error(`text ${next} was not read`)
  }
  return found
}

/** The figures as a table of a page. */
export const tableOf = (list: ReadonlyArray<Figure>): string =>
  [
    "| texts | found | of | share |",
    "| --- | --: | --: | --: |",
    ...list.map(({ found, of, texts }) => `| ${texts} | ${found} | ${of} | ${(100 * found / of).toFixed(1)} % |`)
  ].join("\n")
