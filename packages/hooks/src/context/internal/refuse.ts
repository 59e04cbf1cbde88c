/** Says which option makes no sense. */
import { ConfigError } from "@belay/core/AgentError"
import * as Result from "effect/Result"

export const refuse = (key: string, expected: string, found: unknown): Result.Result<never, ConfigError> =>
  Result.fail(
    new ConfigError({
      key,
      message: `${key}: expected ${expected}, found ${
        typeof found === "string" ? JSON.stringify(found) : String(found)
      }`
    })
  )
