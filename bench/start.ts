/**
 * Starting a program: CPU from the start of the process to the first answer over HTTP, of the agent of the README, of
 * the same agent with `ai`, and of a call with the `openai` client. The packages are built, and each program runs in a
 * process of its own: as it was written, and as one file that a bundler made of it.
 */
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { rolldown } from "rolldown"
import { startServer } from "./server.ts"

export const programs: ReadonlyArray<readonly [name: string, code: (url: string) => string]> = [
  [
    "the `openai` client",
    (url) => `
import OpenAI from "openai"
const client = new OpenAI({ baseURL: "${url}", apiKey: "k" })
const { choices } = await client.chat.completions.create({ model: "text", messages: [{ role: "user", content: "hi" }] })
globalThis.text = choices[0].message.content`
  ],
  [
    "`ai` with `@ai-sdk/openai-compatible`",
    (url) => `
import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import { generateText, isStepCount, tool } from "ai"
import * as z from "zod"
const provider = createOpenAICompatible({ name: "bench", baseURL: "${url}", apiKey: "k" })
const deleteFile = tool({
  description: "Delete a file",
  inputSchema: z.object({ path: z.string() }),
  execute: ({ path }) => \`deleted \${path}\`
})
const { text } = await generateText({
  model: provider("text"), tools: { deleteFile }, stopWhen: isStepCount(20), prompt: "Delete the file notes.tmp"
})
globalThis.text = text`
  ],
  [
    "the agent of the README without hooks",
    (url) => `
import { createAgent, defineTool } from "@belay/core"
import { OpenAiCompatible } from "@belay/providers"
import * as z from "zod"
const deleteFile = defineTool({
  name: "delete_file",
  description: "Delete a file",
  input: z.object({ path: z.string() }),
  execute: ({ path }) => \`deleted \${path}\`
})
const provider = OpenAiCompatible.make({ baseUrl: "${url}", apiKey: "k", model: "text" })
await using agent = createAgent({ provider, tools: [deleteFile] })
const { text } = await agent.run("Delete the file notes.tmp")
globalThis.text = text`
  ],
  [
    "the agent of the README",
    (url) => `
import { createAgent, defineTool } from "@belay/core"
import { Approval, CostTracker, InputGuardrail } from "@belay/hooks"
import { OpenAiCompatible } from "@belay/providers"
import * as z from "zod"
const deleteFile = defineTool({
  name: "delete_file",
  description: "Delete a file",
  input: z.object({ path: z.string() }),
  execute: ({ path }) => \`deleted \${path}\`
})
const guardrail = InputGuardrail.make({ patterns: ["(?i)password"] })
const cost = CostTracker.make({ costPerInputToken: 4e-7, costPerOutputToken: 1.6e-6, limit: 0.05 })
const hooks = [guardrail, cost, Approval.make({ tools: ["delete_*"], ask: () => ({ type: "approve" }) })]
const provider = OpenAiCompatible.make({ baseUrl: "${url}", apiKey: "k", model: "text" })
await using agent = createAgent({ provider, tools: [deleteFile], hooks })
const { text } = await agent.run("Delete the file notes.tmp")
globalThis.text = text`
  ]
]

const report = `
import { writeSync } from "node:fs"
const { system, user } = process.cpuUsage()
writeSync(1, JSON.stringify({ text: globalThis.text, cpu: (user + system) / 1000, wall: performance.now() }))
process.exit(0)`

interface Sample {
  readonly text: string
  readonly cpu: number
  readonly wall: number
}

const rounds = 9

/** Makes one file of a program and everything that it imports. */
const bundle = async (input: string, file: string) => {
  const build = await rolldown({ input, platform: "node", external: /report\.mjs$/, logLevel: "silent" })
  await build.write({ file, format: "esm", minify: true, codeSplitting: false })
  await build.close()
}

export const start = async (): Promise<string> => {
  const { status } = spawnSync(process.execPath, ["scripts/build.mjs"], { stdio: "ignore" })
  if (status !== 0) throw new Error("the packages do not build: run npm run build")
  const { stop, url } = await startServer()
  // Inside of the project, so that the packages are found.
  const folder = mkdtempSync(join(resolve("."), ".bench-"))
  try {
    writeFileSync(join(folder, `report.mjs`), report)
    const files: Array<string> = []
    const names = [...programs.map(([name]) => name), ...programs.map(([name]) => `${name}, one file`)]
    for (const [index, [, code]] of programs.entries()) {
      files.push(join(folder, `${index}.mjs`))
      writeFileSync(files[index]!, `${code(url)}\nawait import("./report.mjs")`)
    }
    for (const file of [...files]) {
      files.push(file.replace(/mjs$/, "bundle.mjs"))
      await bundle(file, files.at(-1)!)
    }
    const samples = files.map((): Array<Sample> => [])
    for (let round = 0; round < rounds; round++) {
      for (const [index, file] of files.entries()) {
        const { stderr, stdout } = spawnSync(process.execPath, [file], { encoding: "utf8", cwd: tmpdir() })
        const sample = JSON.parse(stdout === "" ? "{}" : stdout) as Sample
        if (sample.text !== "done") throw new Error(`${stdout}${stderr}`)
        samples[index]!.push(sample)
      }
    }
    const middle = (list: ReadonlyArray<Sample>, key: "cpu" | "wall") =>
      list.map((sample) => sample[key]).sort((a, b) => a - b)[rounds >> 1]!
    // The programs come twice: as they were written, and as one file.
    const base = (index: number) => middle(samples[index < programs.length ? 1 : programs.length + 1]!, "cpu")
    return [
      "From the start of the process to the first answer. The baseline is `ai`, for one file `ai` as one file.",
      "",
      "| | CPU ms | ratio | wall ms |",
      "|---|--:|--:|--:|",
      ...names.map((name, index) => {
        const cpu = middle(samples[index]!, "cpu")
        const wall = middle(samples[index]!, "wall")
        return `| ${name} | ${cpu.toFixed(0)} | ${(cpu / base(index)).toFixed(2)} | ${wall.toFixed(0)} |`
      }),
      ""
    ].join("\n")
  } finally {
    stop()
    rmSync(folder, { recursive: true, force: true })
  }
}
