/** What is compared. */
import * as Approval from "@belay/hooks/Approval"
import { safeDefaults } from "@belay/hooks/Hooks"
import type { Variant } from "./score.ts"

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
