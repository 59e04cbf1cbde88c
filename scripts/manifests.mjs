// What the manifests of all published packages say about themselves, for registries and for people who find them there.
const repository = "https://github.com/belay-sdk/belay"
const common = ["agent", "ai", "llm", "typescript"]

const keywords = {
  cli: ["cli", "hooks", "claude-code"],
  core: ["hooks", "agents", "sdk", "effect", "tool-calling"],
  create: ["create", "template"],
  "hook-files": ["hooks", "claude-code", "cursor", "copilot", "gemini-cli"],
  hooks: ["hooks", "guardrails", "approval", "budget"],
  providers: ["openai", "openai-compatible", "mcp", "sqlite", "postgres"],
  observe: ["opentelemetry", "report", "backtest", "observability"],
  server: ["durable", "sessions", "postgres", "openai", "ai-sdk", "ag-ui", "acp", "mcp"],
  sdk: ["hooks", "agents", "sdk", "guardrails", "openai-compatible"],
  testing: ["testing", "evals", "guardrails"],
  tools: ["tools", "bash", "files", "fetch"],
  guard: ["guardrails", "ai-sdk", "openai-agents", "approval"]
}

/** The manifest of the package in `packages/NAME`, with the fields that all packages have, in one order. */
export const complete = (name, manifest) => {
  const { description, license, name: full, version, ...rest } = manifest
  return {
    name: full,
    version,
    description,
    keywords: [...common, ...keywords[name] ?? []],
    homepage: `${repository}#readme`,
    bugs: { url: `${repository}/issues` },
    repository: { type: "git", url: `git+${repository}.git`, directory: `packages/${name}` },
    license,
    ...rest,
    publishConfig: { access: "public", provenance: true },
    files: [...new Set([...manifest.files, "CHANGELOG.md"])]
  }
}
