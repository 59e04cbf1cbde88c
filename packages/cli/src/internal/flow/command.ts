/** `belay flow`: what data flow takes the tools of an agent for. */
import type { AgentConfig } from "@belay/core/AgentConfig"
import { defineHook } from "@belay/core/AgentHook"
import { createAgent } from "@belay/core/createAgent"
import { messageOf } from "@belay/core/ErrorMessage"
import * as HookAction from "@belay/core/HookAction"
import type { ToolMeta } from "@belay/core/Tool"
import * as DataFlow from "@belay/hooks/DataFlow"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import { print, toggle, usageError } from "../flags.ts"
import { plain, type Screen, styleOf } from "../screen.ts"
import { type CommandError, commandError } from "../usage.ts"

export const flow = (screen: Screen) =>
  Command.make("flow", {
    config: Argument.String("config").pipe(
      Argument.withDescription("A module whose default export is the options of an agent")
    ),
    json: toggle("json", "Write JSON")
  }, ({ config, json }) =>
    Effect.gen(function*() {
      // Loaded here, so that other commands start faster.
      const { loadServed } = yield* Effect.promise(() => import("../serve/load.ts"))
      const served = yield* loadServed(config)
      if ("host" in served) {
        return yield* usageError("the module exports a host: export default the options of an agent")
      }
      const tools = yield* toolsOf(served.agent)
      const found = DataFlow.describe(tools, labelsOf(served.agent))
      yield* print(json, () => found, () => textOf(found, screen))
    })).pipe(
      Command.withDescription(
        "Shows what the tools of an agent are for data flow: which of them act or read, which arguments are " +
          "checked, and why"
      )
    )

/**
 * The tools as hooks see them, with those of plugins and servers. No hook of the agent runs, and no model is called.
 */
const toolsOf = (config: AgentConfig): Effect.Effect<ReadonlyArray<ToolMeta>, CommandError> => {
  let tools: ReadonlyArray<ToolMeta> = []
  const look = defineHook({
    name: "look",
    preTurn: (_turn, ctx) => {
      tools = ctx.tools
      return HookAction.respond({ text: "" })
    }
  })
  const { hookSources: _sources, memory: _memory, store: _store, ...rest } = config
  return Effect.catch(
    Effect.acquireUseRelease(
      Effect.try(() => createAgent({ ...rest, hooks: [look], log: false })),
      (agent) => Effect.map(Effect.tryPromise(() => agent.run("look")), () => tools),
      (agent) => Effect.promise(() => agent.close())
    ),
    ({ cause }) => commandError(`the tools of the agent are not known: ${plain(messageOf(cause))}`)
  )
}

/** The labels that the agent's own hook has. */
const labelsOf = ({ hooks = [] }: AgentConfig): DataFlow.Labelling => {
  const hook = hooks.find(({ identity }) => identity?.kind === "data-flow")
  // The options of the hook were checked when it was made.
  const { arguments: ranks, sinks, sources } = (hook?.identity?.options ?? {}) as DataFlow.Labelling
  return {
    ...(ranks === undefined ? {} : { arguments: ranks }),
    ...(sinks === undefined ? {} : { sinks }),
    ...(sources === undefined ? {} : { sources })
  }
}

const kinds = { sink: "acts", fetch: "reads an address", source: "reads", local: "acts locally" }

const textOf = (tools: ReadonlyArray<DataFlow.UnderstoodTool>, screen: Screen): string => {
  const { bold, dim, yellow } = styleOf(screen)
  if (tools.length === 0) return "The agent has no tools."
  return tools.flatMap(({ arguments: all, confidentiality, integrity, kind, name, why }) => [
    `${bold(plain(name))}  ${kinds[kind]}  ${dim(plain(why))}`,
    `    results: ${integrity}, ${confidentiality}`,
    ...all.map((one) =>
      `    ${one.checked ? yellow("checked") : dim("free   ")}  ${plain(one.name)}  ${one.class}  ${
        dim(plain(one.why))
      }`
    )
  ]).join("\n")
}
