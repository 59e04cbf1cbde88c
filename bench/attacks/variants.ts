/** What is compared. */
import * as Approval from "@belay/hooks/Approval"
import * as DataFlow from "@belay/hooks/DataFlow"
import { safeDefaults } from "@belay/hooks/Hooks"
import type { Prepared, Variant } from "./score.ts"

/** What there was before data flow. */
export const others: ReadonlyArray<Variant> = [
  { name: "nothing", hooks: () => [] },
  { name: "the other safe defaults", hooks: () => safeDefaults().filter(({ name }) => name !== "data-flow") },
  {
    name: "ask before everything that changes something",
    hooks: ({ domain }) => [
      Approval.make({ tools: ["*", ...domain.reads.map((name) => `!${name}`)] })
    ]
  }
]

/** A number from 0 to 1 that is always the same for a text. */
const chance = (text: string): number => {
  let hash = 2166136261
  for (const character of text) hash = Math.imul(hash ^ character.charCodeAt(0), 16777619)
  return ((hash ^ (hash >>> 13)) >>> 0) / 2 ** 32
}

/** A plan that errs: it misses one tool in ten, and names a fifth too many. */
const planOf = ({ calls, domain }: Prepared, task: number): ReadonlyArray<string> => {
  const needed = [...new Set(calls[task]!.map(([name]) => name))].filter((name) => !domain.reads.includes(name))
  const others = domain.tools(domain.fresh()).map(({ name }) => name)
    .filter((name) => !domain.reads.includes(name) && !needed.includes(name))
  const { prompt } = domain.tasks[task]!
  return [
    ...needed.filter((name) => chance(`missed ${prompt} ${name}`) >= 0.1),
    ...needed.flatMap((name) =>
      chance(`more ${prompt} ${name}`) < 0.2 ? [others[Math.floor(chance(name + prompt) * others.length)]!] : []
    )
  ]
}

/** The variants of data flow for every domain. */
export const flows: ReadonlyArray<Variant> = [
  { name: "DataFlow", hooks: () => [DataFlow.make()] },
  { name: "DataFlow with labels", hooks: ({ domain }) => [DataFlow.make(domain.labels)] },
  {
    name: "DataFlow with labels and a plan that errs",
    hooks: (prepared, task) => [DataFlow.make({ ...prepared.domain.labels, plan: () => planOf(prepared, task) })]
  },
  { name: "DataFlow.coding", hooks: () => [DataFlow.coding()] }
]
