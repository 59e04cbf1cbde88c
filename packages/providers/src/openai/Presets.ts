/**
 * Known endpoints: their addresses, the variables that hold their keys, and their differences.
 *
 * @since 0.1.0
 */
import { type Compat, defaults } from "./internal/request/compat.ts"
import { isLoopback } from "./internal/transport/proxy.ts"

export type { Compat }

/** A known endpoint. @category models @since 0.1.0 */
export interface Preset {
  readonly name: string
  readonly baseUrl: string
  /** Environment variable that usually holds the key. Absent if no key is needed. */
  readonly keyVariable?: string
  readonly compat?: Partial<Compat>
}

const plainTokens: Partial<Compat> = { maxTokensField: "max_tokens", systemRole: "system" }

/** Servers that force the model to follow a grammar, so that it cannot call tools. */
const grammar: Partial<Compat> = { jsonSchema: "native-without-tools" }

const list: ReadonlyArray<Preset> = [
  {
    name: "openai",
    baseUrl: "https://api.openai.com/v1",
    keyVariable: "OPENAI_API_KEY",
    compat: { maxTokensField: "max_completion_tokens", promptCache: "key", webSearch: "options" }
  },
  {
    name: "openrouter",
    baseUrl: "https://openrouter.ai/api/v1",
    keyVariable: "OPENROUTER_API_KEY",
    compat: {
      ...plainTokens,
      reasoning: "openrouter",
      reasoningSummary: "openrouter",
      reasoningReplay: "always",
      encryptedReasoning: true,
      promptCache: "markers",
      webSearch: "openrouter"
    }
  },
  {
    name: "deepseek",
    baseUrl: "https://api.deepseek.com",
    keyVariable: "DEEPSEEK_API_KEY",
    compat: { ...plainTokens, reasoning: "thinking", jsonSchema: "prompt" }
  },
  {
    name: "groq",
    baseUrl: "https://api.groq.com/openai/v1",
    keyVariable: "GROQ_API_KEY",
    compat: {
      maxTokensField: "max_completion_tokens",
      jsonSchema: "tool",
      reasoningSummary: "groq",
      webSearch: "groq"
    }
  },
  {
    name: "mistral",
    baseUrl: "https://api.mistral.ai/v1",
    keyVariable: "MISTRAL_API_KEY",
    compat: { ...plainTokens, toolIds: "alphanumeric-9", usageInStream: false, reasoning: "none", toolResultName: true }
  },
  {
    name: "xai",
    baseUrl: "https://api.x.ai/v1",
    keyVariable: "XAI_API_KEY",
    compat: { maxTokensField: "max_completion_tokens", webSearch: "xai", encryptedReasoning: true }
  },
  { name: "together", baseUrl: "https://api.together.xyz/v1", keyVariable: "TOGETHER_API_KEY", compat: plainTokens },
  {
    name: "fireworks",
    baseUrl: "https://api.fireworks.ai/inference/v1",
    keyVariable: "FIREWORKS_API_KEY",
    compat: { ...plainTokens, parallelToolCalls: false }
  },
  {
    name: "cerebras",
    baseUrl: "https://api.cerebras.ai/v1",
    keyVariable: "CEREBRAS_API_KEY",
    compat: { maxTokensField: "max_completion_tokens", jsonSchema: "native-without-tools" }
  },
  {
    name: "moonshot",
    baseUrl: "https://api.moonshot.ai/v1",
    keyVariable: "MOONSHOT_API_KEY",
    compat: {
      ...plainTokens,
      toolChoiceRequired: false,
      toolChoiceInWords: true,
      reasoning: "thinking",
      jsonSchema: "prompt"
    }
  },
  {
    name: "zai",
    baseUrl: "https://api.z.ai/api/paas/v4",
    keyVariable: "ZAI_API_KEY",
    compat: { ...plainTokens, reasoning: "thinking", jsonSchema: "prompt", webSearch: "zai" }
  },
  {
    name: "alibaba",
    baseUrl: "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
    keyVariable: "DASHSCOPE_API_KEY",
    compat: {
      ...plainTokens,
      reasoning: "enable_thinking",
      jsonSchema: "prompt",
      promptCache: "markers",
      webSearch: "alibaba"
    }
  },
  {
    name: "perplexity",
    baseUrl: "https://api.perplexity.ai",
    keyVariable: "PERPLEXITY_API_KEY",
    compat: { ...plainTokens, webSearch: "always" }
  },
  { name: "huggingface", baseUrl: "https://router.huggingface.co/v1", keyVariable: "HF_TOKEN", compat: plainTokens },
  { name: "github", baseUrl: "https://models.github.ai/inference", keyVariable: "GITHUB_TOKEN" },
  {
    name: "nvidia",
    baseUrl: "https://integrate.api.nvidia.com/v1",
    keyVariable: "NVIDIA_API_KEY",
    compat: plainTokens
  },
  { name: "nebius", baseUrl: "https://api.studio.nebius.com/v1", keyVariable: "NEBIUS_API_KEY", compat: plainTokens },
  { name: "sambanova", baseUrl: "https://api.sambanova.ai/v1", keyVariable: "SAMBANOVA_API_KEY", compat: plainTokens },
  {
    name: "deepinfra",
    baseUrl: "https://api.deepinfra.com/v1/openai",
    keyVariable: "DEEPINFRA_API_KEY",
    compat: plainTokens
  },
  { name: "baseten", baseUrl: "https://inference.baseten.co/v1", keyVariable: "BASETEN_API_KEY", compat: plainTokens },
  {
    name: "vercel",
    baseUrl: "https://ai-gateway.vercel.sh/v1",
    keyVariable: "AI_GATEWAY_API_KEY",
    compat: { promptCache: "markers" }
  },
  {
    name: "google",
    baseUrl: "https://generativelanguage.googleapis.com/v1beta/openai",
    keyVariable: "GEMINI_API_KEY",
    compat: { ...plainTokens, jsonSchema: "native-without-tools", reasoningSummary: "google" }
  },
  {
    name: "anthropic",
    baseUrl: "https://api.anthropic.com/v1",
    keyVariable: "ANTHROPIC_API_KEY",
    compat: { ...plainTokens, jsonSchema: "tool", reasoning: "budget" }
  },
  {
    name: "ollama",
    baseUrl: "http://localhost:11434/v1",
    compat: { ...grammar, toolChoiceRequired: false, toolChoiceInWords: true }
  },
  { name: "lmstudio", baseUrl: "http://localhost:1234/v1", compat: grammar },
  { name: "llamacpp", baseUrl: "http://localhost:8080/v1", compat: { ...grammar, reasoning: "template" } },
  { name: "vllm", baseUrl: "http://localhost:8000/v1", compat: { ...grammar, reasoning: "template" } },
  { name: "litellm", baseUrl: "http://localhost:4000/v1", compat: { emptyTools: true, promptCache: "markers" } }
]

/** A server on this machine, on any port, is one that uses a grammar until it is known better. */
const isLocal = (baseUrl: string): boolean => {
  const host = typeof baseUrl === "string" && URL.canParse(baseUrl) ? new URL(baseUrl).hostname : ""
  return isLoopback(host) || host === "host.docker.internal"
}

/** Every known endpoint, by name. @category presets @since 0.1.0 */
export const all: ReadonlyMap<string, Preset> = new Map(list.map((preset) => [preset.name, preset]))

/**
 * Finds the preset of a base URL by its host, and by its port for servers on this machine.
 *
 * @category presets
 * @since 0.1.0
 */
export const detect = (baseUrl: string): Preset | undefined => {
  const url = typeof baseUrl === "string" && URL.canParse(baseUrl) ? new URL(baseUrl) : undefined
  if (url === undefined) return undefined
  if (/\.(?:openai|cognitiveservices|services\.ai)\.azure\.com$/.test(url.hostname)) {
    return { name: "azure", baseUrl, keyVariable: "AZURE_OPENAI_API_KEY", compat: { promptCache: "key" } }
  }
  const host = isLoopback(url.hostname) ? `localhost:${url.port}` : aliases.get(url.hostname) ?? url.host
  return list.find((preset) => {
    const known = new URL(preset.baseUrl)
    return known.host === host || (known.protocol === "https:" && host.endsWith(`.${known.host}`))
  })
}

/** Other hosts of the same vendors. */
const aliases: ReadonlyMap<string, string> = new Map([
  ["dashscope.aliyuncs.com", "dashscope-intl.aliyuncs.com"],
  ["dashscope-us.aliyuncs.com", "dashscope-intl.aliyuncs.com"],
  ["api.moonshot.cn", "api.moonshot.ai"],
  ["open.bigmodel.cn", "api.z.ai"]
])

/** Reasoning models refuse some parameters. Fine-tuned models have `ft:` before and more names behind. */
const isReasoningModel = (model: string): boolean => {
  const [base = ""] = model.replace(/^(?:openai\/)?(?:ft:)?/, "").split(":")
  return /^(?:o\d|gpt-(?:[5-9]|\d\d)|codex-)/.test(base) && !base.includes("chat")
}

/** Deployments on Azure have names of their own, which often contain the name of the model. */
const isReasoningDeployment = (name: string): boolean =>
  /(?:^|[-_. ])(?:o[1-9]|gpt-?[5-9]|codex)(?=$|[-_. ])/i.test(name) && !/chat/i.test(name)

/**
 * Returns the differences of an endpoint from its base URL and model. Options of the user override them.
 *
 * @category presets
 * @since 0.1.0
 */
export const compatOf = (baseUrl: string, model: string, given: Partial<Compat> = {}): Compat => {
  const preset = detect(baseUrl)
  const isReasoning = preset?.name === "openai"
    ? isReasoningModel(model)
    : preset?.name === "azure" && (isReasoningModel(model) || isReasoningDeployment(model))
  return {
    ...defaults,
    ...(preset === undefined && isLocal(baseUrl) ? grammar : preset?.compat),
    ...(isReasoning
      ? {
        sampling: false,
        maxTokensField: "max_completion_tokens",
        encryptedReasoning: true,
        systemRole: /^o1-(?:mini|preview)/.test(model) ? "system" : "developer"
      }
      : {}),
    ...given
  }
}
