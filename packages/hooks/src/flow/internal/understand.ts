/** Says what the hook takes tools and arguments for, and why. */
import type { ToolMeta } from "@belay/core/Tool"
import { type ArgumentClass, classOf, isDecisive } from "./argumentClass.ts"
import type { Configuration } from "./configure.ts"
import { propertiesOf } from "./text/schemas.ts"
import type { ToolKind } from "./toolKind.ts"

/** What a tool was taken for. */
export interface UnderstoodTool extends ToolKind {
  readonly name: string
  readonly arguments: ReadonlyArray<{
    readonly name: string
    readonly class: ArgumentClass
    /** Whether the value of the argument is checked. */
    readonly checked: boolean
    readonly why: string
  }>
}

/** Describes tools. */
export const understand = (
  { kindOf, rankOf }: Configuration,
  tools: ReadonlyArray<ToolMeta>
): ReadonlyArray<UnderstoodTool> =>
  tools.map((tool) => {
    const kind = kindOf(tool)
    const described = Object.entries(propertiesOf(tool.inputSchema)).map(([name, schema]) => {
      const rank = rankOf(tool.name, name)
      const guess = classOf(name, schema)
      const one = rank === "content"
        ? { class: "content", why: "configured" } as const
        : rank === "decisive"
        ? { class: isDecisive(guess.class) ? guess.class : "other", why: "configured" } as const
        : guess
      const checked = kind.kind === "sink" ? isDecisive(one.class) : kind.kind === "fetch" && one.class === "url"
      return { name, class: one.class, checked, why: one.why }
    })
    return { name: tool.name, ...kind, arguments: described }
  })
