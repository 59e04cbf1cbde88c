/** Checks the options of an agent and of the parts that have options of their own. */
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import type { ConfigError } from "../../../data/AgentError.ts"
import { checkKinds, checkOptions, invalidOption, oneOf, type OptionKinds } from "../../../data/option/OptionCheck.ts"
import type { ApprovalConfig, ApprovalKey } from "../../../guard/Approvals.ts"
import type { HookSource } from "../../../guard/HookSource.ts"
import { checkParts } from "../../../guard/internal/definition/checkParts.ts"
import type { AgentConfig, WindowConfig } from "../../AgentConfig.ts"
import type { AnyTool } from "../../defineTool.ts"
import type { Output } from "../../Output.ts"
import type { Plugin } from "../../Plugin.ts"

const configKinds: OptionKinds<AgentConfig & { readonly layer?: unknown }> = {
  name: "text",
  provider: "any",
  models: "object",
  instructions: "text",
  model: "text",
  parameters: "object",
  output: "object",
  tools: "list",
  hooks: "any",
  hookSources: "list",
  plugins: "list",
  policy: "object",
  memory: "object",
  core: "object",
  limits: "object",
  window: "object",
  compactor: "object",
  tokenizer: "object",
  store: "object",
  artifacts: "object",
  http: "object",
  mcp: "object",
  onAsk: "function",
  changeNote: "function",
  approvals: "object",
  breaker: "object",
  streamMode: "text",
  freeze: "flag",
  records: "flag",
  log: "any",
  cwd: "text",
  info: "object",
  layer: "any"
}
const windowKinds: OptionKinds<WindowConfig> = {
  tokens: "number",
  compactAt: "number",
  maxMessages: "number",
  keepRecent: "number"
}
const breakerKinds: OptionKinds<NonNullable<AgentConfig["breaker"]>> = { failures: "number", cooldownMs: "number" }
const approvalKinds: OptionKinds<ApprovalConfig> = { keys: "list", rules: "object" }
const outputKinds: OptionKinds<Output> = {
  schema: "any",
  jsonSchema: "object",
  name: "any",
  strict: "flag",
  retries: "any"
}
const toolKinds: OptionKinds<Omit<AnyTool, "~shown">> = {
  name: "any",
  description: "text",
  input: "any",
  jsonSchema: "any",
  exclusive: "flag",
  delegate: "object",
  hooks: "list",
  instructions: "text",
  deferred: ["flag", "text"],
  execute: "function",
  readOnly: "flag",
  destructive: "flag",
  idempotent: "flag",
  openWorld: "flag"
}
const pluginKinds: OptionKinds<Plugin> = {
  name: "text",
  hooks: "list",
  hookSources: "list",
  tools: "list",
  providers: "list",
  memory: "object",
  policy: "object",
  mcp: "object",
  store: "object",
  onEvent: "function",
  eventTypes: "textList"
}
const sourceKinds: OptionKinds<HookSource> = { name: "text", load: "function" }

/** Checks all options of a configuration. Fails for the first one that is unknown or has a value of the wrong kind. */
export const checkConfig = (config: AgentConfig): Result.Result<AgentConfig, ConfigError> =>
  Result.gen(function*() {
    yield* checkKinds("agent", config, configKinds)
    const { approvals, breaker, hooks = [], output, plugins = [], window } = config
    if (!Array.isArray(hooks)) yield* invalidOption("agent.hooks", "expected a list of hooks")
    if (window !== undefined) yield* checkKinds("agent.window", window, windowKinds, ["tokens"])
    if (breaker !== undefined) yield* checkKinds("agent.breaker", breaker, breakerKinds)
    if (approvals !== undefined) {
      yield* checkKinds("agent.approvals", approvals, approvalKinds)
      yield* checkKeys(approvals.keys)
    }
    if (output !== undefined) yield* checkKinds("agent.output", output, outputKinds, ["schema"])
    yield* checkOptions("agent", oneOf("streamMode", config.streamMode, ["restart", "beforeFirstToken"]))
    yield* checkOptions(
      "agent",
      ["log", config.log, isLog, "false or a function"],
      // Only `createAgent` has a layer.
      ["layer", "layer" in config ? config.layer : undefined, Layer.isLayer, "a Layer"]
    )
    yield* checkParts("agent", config)
    yield* checkPlugins(plugins)
    for (const { owner, tools } of [{ owner: "agent", tools: config.tools ?? [] }, ...toolsOf(plugins)]) {
      for (const [index, tool] of tools.entries()) yield* checkTool(`${owner}.tools[${index}]`, tool)
    }
    for (const { owner, sources } of [{ owner: "agent", sources: config.hookSources ?? [] }, ...sourcesOf(plugins)]) {
      for (const [index, source] of sources.entries()) {
        yield* checkKinds(`${owner}.hookSources[${index}]`, source, sourceKinds, ["name", "load"])
      }
    }
    return config
  })

/** A key from a variable that is not set must not count as a key. */
const checkKeys = (keys: ApprovalConfig["keys"]): Result.Result<void, ConfigError> => {
  const owner = "agent.approvals.keys"
  if (keys?.length === 0) return invalidOption(owner, "expected at least one key: leave it out to use no signatures")
  const ids = new Set<string>()
  return Result.gen(function*() {
    for (const [index, key] of (keys ?? []).entries()) {
      yield* checkKinds(`${owner}[${index}]`, key, keyKinds, ["id", "secret"])
      const { id, secret } = key
      if (id === "") yield* invalidOption(`${owner}[${index}].id`, "is empty: give the key a name")
      if (ids.has(id)) yield* invalidOption(`${owner}[${index}].id`, `two keys have the id "${id}"`)
      ids.add(id)
      const bytes = typeof secret === "string" ? new TextEncoder().encode(secret) : secret
      if (!(bytes instanceof Uint8Array) || bytes.length < minSecret) {
        yield* invalidOption(
          `${owner}[${index}].secret`,
          `expected a text or a Uint8Array of at least ${minSecret} bytes`
        )
      }
    }
  })
}

const minSecret = 16
const keyKinds: OptionKinds<ApprovalKey> = { id: "text", secret: "any" }

const isLog = (log: unknown): boolean => log === false || typeof log === "function"

const toolsOf = (plugins: ReadonlyArray<Plugin>) =>
  plugins.map(({ name, tools = [] }) => ({ owner: `plugins.${name}`, tools }))

const sourcesOf = (plugins: ReadonlyArray<Plugin>) =>
  plugins.map(({ hookSources = [], name }) => ({ owner: `plugins.${name}`, sources: hookSources }))

const checkPlugins = (plugins: ReadonlyArray<Plugin>): Result.Result<void, ConfigError> =>
  Result.gen(function*() {
    const names = new Set<string>()
    for (const [index, plugin] of plugins.entries()) {
      const owner = `agent.plugins[${index}]`
      yield* checkKinds(owner, plugin, pluginKinds, ["name"])
      const { name } = plugin
      if (name === "") yield* invalidOption(`${owner}.name`, "is empty: give the plugin a name")
      if (names.has(name)) {
        yield* invalidOption(`${owner}.name`, `two plugins have the name "${name}": a plugin is added once`)
      }
      names.add(name)
      yield* checkParts(`plugins.${name}`, plugin)
    }
  })

const checkTool = (owner: string, tool: AnyTool): Result.Result<void, ConfigError> => {
  const { name } = tool as Partial<AnyTool>
  return checkKinds(typeof name === "string" ? `tools.${name}` : owner, tool, toolKinds, [
    "name",
    "description",
    "input",
    "execute"
  ])
}
