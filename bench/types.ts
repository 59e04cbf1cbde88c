/**
 * What the type checker does for a program: instantiations, types and check time, on the built packages. One tool or
 * hook more must cost the same whether there are ten or a hundred.
 */
import { spawnSync } from "node:child_process"
import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"

const tool = (index: number, define: string, run: string) => `
const tool${index} = ${define}({
  ${define === "tool" ? "" : `name: "tool_${index}", `}description: "The tool ${index}",
  ${
  define === "tool" ? "inputSchema" : "input"
}: z.object({ path: z.string(), lines: z.number().optional(), mode: z.enum(["a", "b"]) }),
  ${run}: ({ path, lines, mode }) => \`\${path} \${lines ?? ${index}} \${mode}\`
})`

const many = <A>(count: number, make: (index: number) => A): ReadonlyArray<A> =>
  Array.from({ length: count }, (_, index) => make(index))

const names = (count: number, name: string) => many(count, (index) => `${name}${index}`).join(", ")

const agentWith = (tools: number, hooks: number) => `
import { createAgent, defineHook, defineTool, HookAction, OpenAiCompatible } from "@belay/sdk"
import * as z from "zod"
${many(tools, (index) => tool(index, "defineTool", "execute")).join("\n")}
${
  many(hooks, (index) => `
const hook${index} = defineHook({
  name: "hook-${index}",
  tools: tool${index % tools},
  preToolCall: ({ args }) => args.mode === "a" ? undefined : HookAction.reject(args.path)
})`).join("\n")
}
export const agent = createAgent({
  provider: OpenAiCompatible.fromEnv(), tools: [${names(tools, "tool")}], hooks: [${names(hooks, "hook")}]
})`

const aiTools = (count: number) => `
import { tool } from "ai"
import * as z from "zod"
${many(count, (index) => tool(index, "tool", "execute")).join("\n")}
const all = { ${names(count, "tool")} }`

const agentsTools = (count: number) => `
import { Agent, tool } from "@openai/agents"
import * as z from "zod"
${
  many(count, (index) => `
const tool${index} = tool({
  name: "tool_${index}", description: "A tool", parameters: z.object({ path: z.string() }), execute: ({ path }) => path
})`).join("\n")
}
const agent = new Agent({ name: "helper", model: "m", tools: [${names(count, "tool")}] })`

const chainTools = (count: number) => `
import { tool } from "langchain"
import * as z from "zod"
${
  many(count, (index) => `
const tool${index} = tool(({ path }) => path, { name: "tool_${index}", schema: z.object({ path: z.string() }) })`)
    .join("\n")
}
const all = [${names(count, "tool")}]`

/** The same program with a guard around its tools. */
const guarded = (adapter: string, program: string, last: string) => `
import { Guard } from "@belay/guard"
import * as ${adapter} from "@belay/guard/${adapter}"
import { Hooks } from "@belay/sdk"
${program}
const guarded = ${adapter}.make(Guard.make({ hooks: Hooks.safeDefaults() }))
export const result = ${last}`

const programs: { readonly [name: string]: string } = {
  "`ai` with one tool": `
import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import { generateText, isStepCount, tool } from "ai"
import * as z from "zod"
${tool(0, "tool", "execute")}
const provider = createOpenAICompatible({ name: "bench", baseURL: "http://127.0.0.1", apiKey: "k" })
export const result = generateText({ model: provider("m"), tools: { tool0 }, stopWhen: isStepCount(20), prompt: "Hi" })`,
  "`ai` with 100 tools": `
import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import { generateText, isStepCount, tool } from "ai"
import * as z from "zod"
${many(100, (index) => tool(index, "tool", "execute")).join("\n")}
const provider = createOpenAICompatible({ name: "bench", baseURL: "http://127.0.0.1", apiKey: "k" })
export const result = generateText({
  model: provider("m"), tools: { ${names(100, "tool")} }, stopWhen: isStepCount(20), prompt: "Hi"
})`,
  "belay, one tool and one hook": agentWith(1, 1),
  "belay, 10 tools and 20 hooks": agentWith(10, 20),
  "belay, 100 tools and 20 hooks": agentWith(100, 20),
  "ten tools of the AI SDK": `${aiTools(10)}\nexport { all }`,
  "the same, guarded": guarded("AiSdk", aiTools(10), "guarded.tools(all).tool9"),
  "an agent of the OpenAI Agents SDK with ten tools": `${agentsTools(10)}\nexport { agent }`,
  "the same agent, guarded": guarded("OpenAiAgents", agentsTools(10), "guarded.agent(agent).name"),
  "ten tools of LangChain": `${chainTools(10)}\nexport { all }`,
  "the same tools, guarded": guarded("LangChain", chainTools(10), "guarded.tools(all)[9]")
}

const options = {
  strict: true,
  module: "nodenext",
  target: "es2023",
  lib: ["es2024", "dom"],
  skipLibCheck: true,
  noEmit: true,
  types: ["node"]
}

export const types = (): Promise<string> => {
  const { status } = spawnSync(process.execPath, ["scripts/build.mjs"], { stdio: "ignore" })
  if (status !== 0) throw new Error("the packages do not build: run npm run build")
  const folder = resolve("node_modules/.cache/belay-bench-types")
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }))
  const rows = Object.entries(programs).map(([name, code], index) => {
    const file = `program${index}.ts`
    writeFileSync(join(folder, file), code)
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: options, files: [file] }))
    const runs = many(3, () => {
      const { status, stdout } = spawnSync(
        process.execPath,
        [resolve("node_modules/typescript/bin/tsc"), "-p", folder, "--extendedDiagnostics", "--singleThreaded"],
        { encoding: "utf8" }
      )
      if (status !== 0) throw new Error(`${name} does not compile: ${stdout}`)
      const figure = (label: string) => Number(new RegExp(`^${label}:\\s+([\\d.]+)`, "m").exec(stdout)?.[1])
      return { instantiations: figure("Instantiations"), types: figure("Types"), check: figure("Check time") }
    })
    return { name, ...runs.toSorted((one, other) => one.check - other.check)[0]! }
  })
  const base = rows[0]!.instantiations
  return Promise.resolve([
    "| program | instantiations | ratio | types | check s |",
    "|---|--:|--:|--:|--:|",
    ...rows.map(({ check, instantiations, name, types }) =>
      `| ${name} | ${instantiations} | ${(instantiations / base).toFixed(1)} | ${types} | ${check.toFixed(2)} |`
    ),
    ""
  ].join("\n"))
}
