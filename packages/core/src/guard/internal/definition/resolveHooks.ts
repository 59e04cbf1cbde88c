/** Makes one chain of the hooks and the hook sources of a configuration. */
import * as Result from "effect/Result"
import { type ChainError, ConfigError } from "../../../data/AgentError.ts"
import { invalidOption } from "../../../data/option/OptionCheck.ts"
import { messageOf } from "../../../data/text/ErrorMessage.ts"
import type { AgentHook } from "../../../hook/AgentHook.ts"
import * as HookChain from "../../../hook/HookChain.ts"
import type { HookSource, SourcedHooks } from "../../HookSource.ts"

/**
 * Names that Belay uses in places where the name of a hook can stand. Hooks cannot have them, because an answer for one
 * would count for the other.
 */
const reservedNames: ReadonlySet<string> = new Set(["policy", "person", "runtime"])

/** The hooks of an agent, and where more of them come from. */
export interface GivenHooks {
  readonly hooks?: ReadonlyArray<AgentHook<never>>
  readonly hookSources?: ReadonlyArray<HookSource>
}

/** Makes the chain of an agent. The warnings come from the sources and from the chain. */
export const resolveHooks = (
  config: GivenHooks,
  cwd: string
): Result.Result<
  { readonly chain: HookChain.HookChain; readonly warnings: ReadonlyArray<string> },
  ConfigError | ChainError
> =>
  Result.gen(function*() {
    const sourced = yield* Result.all((config.hookSources ?? []).map((source) => load(source, cwd)))
    const chain = yield* HookChain.make([
      ...(config.hooks ?? []),
      ...sourced.flatMap(({ hooks }) => hooks)
    ])
    const reserved = chain.hooks.find(({ name }) => reservedNames.has(name))
    if (reserved !== undefined) {
      return yield* invalidOption(
        `hooks.${reserved.name}`,
        `a hook cannot be named "${reserved.name}": Belay uses that name itself. Rename the hook`
      )
    }
    return { chain, warnings: [...sourced.flatMap(({ warnings }) => warnings), ...chain.warnings] }
  })

const load = (source: HookSource, cwd: string): Result.Result<Required<SourcedHooks>, ConfigError> => {
  const key = `hookSources.${source.name}`
  return Result.try({
    try: () => {
      const { hooks, warnings = [] } = source.load({ cwd })
      return { hooks, warnings: warnings.map((warning) => `${source.name}: ${warning}`) }
    },
    catch: (error) =>
      error instanceof ConfigError
        ? error
        : new ConfigError({ key, message: `${key} cannot be loaded: ${messageOf(error)}` })
  })
}
