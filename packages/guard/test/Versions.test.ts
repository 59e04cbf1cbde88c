/** An SDK of a version for which an adapter is not made is refused when the conversation is made. */
import { ConfigError } from "@belay/core/AgentError"
import { afterEach, assert, describe, it, vi } from "@effect/vitest"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { mkdir, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import * as Guard from "../src/Guard.ts"
import { installed } from "../src/internal/installed.ts"
import { checkVersion, oldest } from "../src/internal/version.ts"

const names = Object.keys(oldest) as ReadonlyArray<keyof typeof oldest>

/** The adapters with the packages whose versions they read, and how. */
const adapters = [
  ["AiSdk", "ai", "ai/package.json"],
  ["LangChain", "langchain", "langchain/package.json"],
  ["LangChain", "@langchain/core", "@langchain/core/package.json"],
  ["LangChain", "@langchain/langgraph", "@langchain/langgraph/package.json"],
  ["OpenAiAgents", "@openai/agents", undefined],
  ["Mastra", "@mastra/core", undefined],
  ["Strands", "@strands-agents/sdk", undefined],
  ["ClaudeAgent", "@anthropic-ai/claude-agent-sdk", undefined],
  ["Pi", "@earendil-works/pi-coding-agent", undefined],
  ["OpenCode", "@opencode-ai/plugin", undefined]
] as const

describe("the version of an SDK", () => {
  afterEach(() => {
    vi.doUnmock("../src/internal/installed.ts")
    for (const [, , file] of adapters) if (file !== undefined) vi.doUnmock(file)
    vi.resetModules()
  })

  it.each(adapters)("is checked by %s: %s", async (adapter, name, file) => {
    vi.resetModules()
    if (file === undefined) vi.doMock("../src/internal/installed.ts", () => ({ installed: () => "99.0.1" }))
    else vi.doMock(file, () => ({ default: { version: "99.0.1" } }))
    const { make } = await import(`../src/${adapter}.ts`) as { readonly make: (guard: Guard.Guard) => unknown }
    assert.throws(
      () => make(Guard.make({ log: false })),
      `${name}: found version 99.0.1, but this adapter is made for ^${oldest[name]}: run npm install ${name}@^`
    )
  })

  it.each(names)("may be the oldest one or a later one that is compatible: %s", (name) => {
    const [major = 0, minor = 0, patch = 0] = oldest[name].split(".").map(Number)
    for (const version of [oldest[name], `${major}.${minor}.${patch + 1}`, undefined]) checkVersion(name, version)
    const next = major === 0 ? `0.${minor + 1}.0` : `${major + 1}.0.0`
    for (const version of [next, `${next}-beta.1`, `${oldest[name]}-beta.1`, "0.0.1", "x"]) {
      assert.throws(() => checkVersion(name, version), ConfigError as never)
    }
  })

  it("has the range that the package has for its peer", () => {
    const { peerDependencies } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"))
    const { "@ai-sdk/provider": _types, "@belay/core": _core, effect: _effect, ...sdks } = peerDependencies
    assert.deepStrictEqual(Object.fromEntries(names.map((name) => [name, `^${oldest[name]}`])), sdks)
  })

  it("is read next to the program, and not known where it cannot be read", async () => {
    const folder = mkdtempSync(join(tmpdir(), "belay-version-"))
    try {
      const at = join(folder, "node_modules/@mastra/core")
      await mkdir(at, { recursive: true })
      const program = pathToFileURL(join(folder, "program.js")).href
      await writeFile(join(at, "package.json"), JSON.stringify({ version: "2.0.0" }))
      assert.strictEqual(installed("@mastra/core", program), "2.0.0")
      await writeFile(join(at, "package.json"), "{")
      assert.isUndefined(installed("@mastra/core", program))
      assert.isUndefined(installed("@belay/none", program))
      assert.isUndefined(installed("@belay/none", "https://example.com/bundle.js"))
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
