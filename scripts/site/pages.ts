/** The pages of the site and their order. `test/site.test.ts` checks that every page of `docs` is here. */

/** A group of the navigation: the title, and pages as paths below `docs` without `.md`. */
export interface Group {
  readonly title: string
  readonly pages: ReadonlyArray<string>
}

export const groups: ReadonlyArray<Group> = [
  {
    title: "Begin",
    pages: ["start", "concepts", "guide-guardrail", "data-flow", "recipes", "which-limit", "troubleshooting"]
  },
  {
    title: "Build",
    pages: [
      "agents",
      "tools",
      "skills",
      "tool-search",
      "hooks",
      "lifecycle",
      "guard",
      "guard-langchain",
      "guard-mastra",
      "guard-claude-agent",
      "guard-strands",
      "guard-pi",
      "guard-opencode",
      "guard-command",
      "guard-session",
      "sessions",
      "streaming",
      "events",
      "providers",
      "mcp",
      "plugins",
      "egress",
      "errors",
      "testing"
    ]
  },
  {
    title: "Ready-made hooks",
    pages: [
      "catalogue/README",
      "catalogue/permissions",
      "catalogue/guardrails",
      "catalogue/limits",
      "catalogue/resilience",
      "catalogue/context",
      "catalogue/offload",
      "catalogue/memory",
      "catalogue/operations",
      "catalogue/options"
    ]
  },
  {
    title: "Run and see",
    pages: [
      "production",
      "engines",
      "serve",
      "inspect",
      "tracing",
      "cli",
      "runtimes",
      "performance",
      "reliability",
      "hijacked-model"
    ]
  },
  {
    title: "Hook files",
    pages: [
      "hooks-as-data",
      "runners",
      "hook-events",
      "stored-hooks",
      "claude-code",
      "codex",
      "copilot",
      "cursor",
      "factory",
      "gemini",
      "kodelet",
      "windsurf",
      "base-coat",
      "compatibility",
      "rows"
    ]
  },
  {
    title: "Coming from",
    pages: [
      "coming-from",
      "from-ai-sdk",
      "from-langchain",
      "from-openai-agents",
      "from-claude-agent-sdk",
      "from-strands"
    ]
  },
  { title: "Project", pages: ["versioning", "words", "decisions/README"] }
]

/** Files outside of `docs` that are pages as well. */
export const projectPages: { readonly [path: string]: string } = {
  "ARCHITECTURE.md": "project/architecture.md",
  "CONTRIBUTING.md": "project/contributing.md",
  "SECURITY.md": "project/security.md",
  "AGENTS.md": "project/agents.md"
}
