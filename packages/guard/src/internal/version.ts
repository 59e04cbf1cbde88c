/** Compares the version of an SDK with those that an adapter is made for. */
import { ConfigError } from "@belay/core/AgentError"

/** The oldest version of each package. Later ones are accepted until the first number that is not 0 changes. */
export const oldest = {
  ai: "7.0.0",
  "@anthropic-ai/claude-agent-sdk": "0.3.0",
  "@earendil-works/pi-coding-agent": "1.3.0",
  "@langchain/core": "1.2.13",
  "@langchain/langgraph": "1.4.13",
  "@mastra/core": "1.71.0",
  "@openai/agents": "0.20.0",
  "@opencode-ai/plugin": "1.18.0",
  "@strands-agents/sdk": "1.16.0",
  langchain: "1.5.0"
} as const

/** Throws a `ConfigError` if an adapter is not made for this version. A version that is not known is accepted. */
export const checkVersion = (name: keyof typeof oldest, found: string | undefined): void => {
  if (found === undefined || fits(found, oldest[name])) return
  throw new ConfigError({
    key: name,
    message: `${name}: found version ${found}, but this adapter is made for ^${oldest[name]}: ` +
      `run npm install ${name}@^${oldest[name]}, or install a version of @belay/guard that is made for yours`
  })
}

const fits = (found: string, least: string): boolean => {
  const [number = "", label] = found.split("-", 2)
  const have = number.split(".").map(Number)
  const need = least.split(".").map(Number)
  const fixed = need.findIndex((part) => part > 0)
  if (need.some((part, index) => index <= fixed && have[index] !== part)) return false
  const differs = need.findIndex((part, index) => part !== have[index])
  // A preview of the oldest version is older than it.
  return differs < 0 ? label === undefined : (have[differs] ?? 0) > need[differs]!
}
