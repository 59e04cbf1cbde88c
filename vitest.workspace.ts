import { defineConfig } from "vitest/config"

const conditions = ["@belay/source", "node", "import", "module", "default"]

const project = (name: string, root: string) => ({
  extends: true as const,
  test: { name, root, include: ["test/**/*.test.ts"] }
})

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    reporters: ["default"],
    testTimeout: 30_000,
    // Half of what tests do is to wait for processes.
    maxWorkers: "100%",
    projects: [
      project("core", "./packages/core"),
      project("hooks", "./packages/hooks"),
      project("hook-files", "./packages/hook-files"),
      project("providers", "./packages/providers"),
      project("testing", "./packages/testing"),
      project("cli", "./packages/cli"),
      project("examples", "./packages/examples"),
      { extends: true as const, test: { name: "house", root: ".", include: ["test/**/*.test.ts"] } }
    ]
  }
})
