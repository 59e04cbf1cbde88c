/** Checks the parts that a program passes: a wrong object would fail later, in the middle of a turn. */
import * as Result from "effect/Result"
import type { ConfigError } from "../../../data/AgentError.ts"
import { invalidOption } from "../../../data/option/OptionCheck.ts"

/** The methods that a part of an agent or of a guard must have. */
const methods = {
  policy: ["check"],
  core: ["runTurn"],
  compactor: ["compact"],
  tokenizer: ["count"],
  store: ["load", "commit"],
  artifacts: ["write", "append", "read", "list", "remove"],
  http: ["request"],
  mcp: ["callTool", "listTools"]
} as const

/** Checks the parts among the options. Fails for the first one without one of its methods. */
export const checkParts = (
  owner: string,
  parts: { readonly [K in keyof typeof methods]?: unknown }
): Result.Result<void, ConfigError> => {
  for (const [key, names] of Object.entries(methods)) {
    // The keys of the table are keys of the options.
    const part = parts[key as keyof typeof methods] as { readonly [name: string]: unknown } | undefined
    const missing = part === undefined ? undefined : names.find((name) => typeof part[name] !== "function")
    if (missing === undefined) continue
    const inside = Object.keys(part ?? {}).find((name) => names.every((method) => hasMethod(part?.[name], method)))
    const hint = inside === undefined ? "" : `; did you mean its property "${inside}"?`
    return invalidOption(
      `${owner}.${key}`,
      `expected an object with ${names.join(" and ")}, found one without ${missing}${hint}`
    )
  }
  return Result.succeed(undefined)
}

const hasMethod = (value: unknown, method: string): boolean =>
  typeof value === "object" && value !== null && method in value
