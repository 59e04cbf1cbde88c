/** From a configuration to what every turn shares. */
import * as Result from "effect/Result"
import type { ChainError, ConfigError } from "../../../data/AgentError.ts"
import type { AgentConfig } from "../../AgentConfig.ts"
import { knit } from "../subagent/agentTree.ts"
import { upstairs } from "../turn/turnOperations.ts"
import { resolve, type Resolved } from "./resolvedAgent.ts"
import { configure } from "./structuredOutput.ts"

/** Checks a configuration and everybody in it that work can be handed to. */
export const made = (config: AgentConfig): Result.Result<Resolved, ConfigError | ChainError> =>
  Result.flatMap(Result.flatMap(configure(config), (configured) => resolve(configured, upstairs)), knit)
