/** Makes the hook from its options. */
import type { AgentHook } from "@belay/core/AgentHook"
import type { Eventual } from "@belay/core/Eventual"
import type { HookContext } from "@belay/core/HookContext"
import type { Json } from "@belay/core/Json"
import { matcher } from "@belay/core/NamePattern"
import { checkOptions, oneOf } from "@belay/core/OptionCheck"
import type { ToolMeta } from "@belay/core/Tool"
import * as Result from "effect/Result"
import * as HookDefaults from "../../HookDefaults.ts"
import { configure, type Labelling, type Rank } from "./configure.ts"
import { flowHook, type Setup } from "./flowHook.ts"
import { plannerOf } from "./plan.ts"
import { leavesOf } from "./text/leaves.ts"
import type { Label } from "./toolKind.ts"

/** Options of `DataFlow.make`. @category models @since 0.2.0 */
export interface Options extends Omit<HookDefaults.HookDefaults, "tools"> {
  /**
   * Names of the tools whose calls are checked; `*` stands for any characters, a leading `!` excludes. The results of
   * all tools are labelled. Default all tools.
   */
  readonly tools?: string | ReadonlyArray<string>
  /**
   * What happens when nothing grounds a value: a person is asked, or the call is denied with feedback from which the
   * model can go on. Default `ask`.
   */
  readonly ungrounded?: "ask" | "deny"
  /**
   * What the results of tools are, by name; `*` stands for any characters. `trusted`: your own words and files, all of
   * whose values count. `directory`: vouches for the short values of records that the person meant. `secret`: its
   * values leave only after a question. `hook:<name>` labels texts that a hook injects, and `memory` those that a
   * memory recalls. Default: `untrusted` and `private`.
   */
  readonly sources?: { readonly [tool: string]: Label | ReadonlyArray<Label> }
  /** Tools whose acts can be undone, such as a basket. They are not checked. Default none. */
  readonly sinks?: { readonly [tool: string]: "local" }
  /** Whether an argument decides something, by `tool.argument`. Default: from its format, or else from its name. */
  readonly arguments?: { readonly [toolAndArgument: string]: Rank }
  /**
   * What happens with links and addresses inside of texts that are sent: they have to be grounded, or it is enough that
   * they stand somewhere in what was read. Default `ask`.
   */
  readonly links?: "ask" | "verbatim"
  /** What happens when a value of a secret source would leave. Default `ask`. */
  readonly secrets?: "ask" | "deny"
  /**
   * Names the tools that a request needs, before the agent reads anything. A tool that acts and is not among them needs
   * an approval, which adds it. It gets the words of the person and nothing else; if it fails, no tool is among them.
   */
  readonly plan?: (
    request: { readonly message: string; readonly tools: ReadonlyArray<ToolMeta> },
    ctx: HookContext
  ) => Eventual<ReadonlyArray<string>>
}

const optionKinds: HookDefaults.OwnKinds<Options> = {
  ungrounded: "text",
  sources: "object",
  sinks: "object",
  arguments: "object",
  links: "text",
  secrets: "text",
  plan: "function"
}

/** Makes the hook. `more` is what only ready-made hooks set. */
export const buildFlow = (options: Options, more: Pick<Setup, "special" | "answer"> = {}): AgentHook => {
  HookDefaults.checkKinds("data-flow", options, optionKinds)
  const {
    arguments: ranks,
    links = "ask",
    plan,
    secrets = "ask",
    sinks,
    sources,
    tools,
    ungrounded = "ask",
    ...common
  } = options
  const name = options.name ?? "data-flow"
  Result.getOrThrow(checkOptions(
    name,
    oneOf("ungrounded", ungrounded, ["ask", "deny"]),
    oneOf("links", links, ["ask", "verbatim"]),
    oneOf("secrets", secrets, ["ask", "deny"])
  ))
  const labelling: Labelling = {
    ...(sources === undefined ? {} : { sources }),
    ...(sinks === undefined ? {} : { sinks }),
    ...(ranks === undefined ? {} : { arguments: ranks })
  }
  const setup: Setup = {
    configuration: configure(name, labelling),
    isChecked: tools === undefined ? () => true : matcher(tools),
    links,
    planner: plan === undefined ? undefined : plannerOf(plan),
    secrets,
    ungrounded,
    ...callNotes(),
    ...more
  }
  const identity = { kind: "data-flow", options: { ...options, ...more } }
  return HookDefaults.apply(common, { name, identity, ...flowHook(setup) })
}

const maxNotes = 1_000

/** What calls of this process were about: their first short text. It is not part of the state, which holds no text. */
const callNotes = (): Pick<Setup, "about" | "noteCall"> => {
  const notes = new Map<string, string>()
  return {
    about: (callId) => notes.get(callId),
    noteCall: (callId, args: Json) => {
      for (const { value } of leavesOf(args)) {
        if (typeof value !== "string" || value === "" || value.length > 80) continue
        if (notes.size >= maxNotes) notes.clear()
        notes.set(callId, value)
        return
      }
    }
  }
}
