/** Runs the demonstration: chooses the endpoint, builds the agent, prints what happens, says how it ended. */
import { createAgent } from "@belay/core"
import { type Agent } from "@belay/core/createAgent"
import { isProviderError, type ProviderError } from "@belay/core/ProviderError"
import type { RunResult } from "@belay/core/RunResult"
import {
  Approval,
  AuditFile,
  AuditLog,
  CostTracker,
  InputGuardrail,
  OutputGuardrail,
  ProviderFallback,
  ToolArguments
} from "@belay/hooks"
import { OpenAiCompatible } from "@belay/providers"
import { Endpoint } from "@belay/testing"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { asker, type Mode } from "./ask.ts"
import { renderer, safe } from "./render.ts"
import * as Workspace from "./workspace.ts"

const help = `npm start -- [options]

  --prompt <text>     what the agent is asked to do
  --base-url <url>    an OpenAI-compatible endpoint (default: OPENAI_BASE_URL, else the embedded one)
  --model <name>      model (default: OPENAI_MODEL, else gpt-5.4-mini; embedded: demo:overloaded-once)
  --approve <how>     ask (default), allow or deny: who answers when a tool needs approval
  --budget <usd>      most dollars to spend (default 0.05)
  --no-colour         plain text
  --help

The key of a real endpoint is read from OPENAI_API_KEY.
`

const task =
  "List the invoices folder, read the newest invoice, delete the files ending with .tmp and send a mail with the summary to ada@example.com"

/** Prices of the demonstration, dollars per token; of a real model the vendor's bill counts. */
const price = { costPerInputToken: 0.000_000_4, costPerOutputToken: 0.000_001_6 }

type Host = Pick<NodeJS.Process, "env"> & {
  readonly stdin: NodeJS.ReadStream
  readonly stdout: NodeJS.WriteStream
  readonly stderr: NodeJS.WriteStream
}

/** Returns the exit code. */
export const run = async (args: ReadonlyArray<string>, host: Host): Promise<number> => {
  const say = (text: string) => host.stdout.write(text)
  const read = options(args)
  if (typeof read === "string") {
    host.stderr.write(`error  ${read}\n\n${help}`)
    return 2
  }
  if (read.help) {
    say(help)
    return 0
  }
  const baseUrl = read["base-url"] ?? nonEmpty(host.env.OPENAI_BASE_URL) ??
    (nonEmpty(host.env.OPENAI_API_KEY) === undefined ? undefined : "https://api.openai.com/v1")
  const endpoint = baseUrl === undefined ? await Endpoint.start() : undefined
  const workspace = await Workspace.make()
  const budget = Number(read.budget)
  const embedded = endpoint !== undefined
  const model = read.model ?? nonEmpty(host.env.OPENAI_MODEL) ?? (embedded ? "demo:overloaded-once" : "gpt-5.4-mini")
  const apiKey = nonEmpty(host.env.OPENAI_API_KEY) ?? "none"
  const url = endpoint?.url ?? baseUrl!
  say(
    `belay  ${embedded ? `embedded endpoint ${url} (no key, no network)` : `endpoint ${safe(url)}`}  model ${
      safe(model)
    }\n`
  )

  const primary = OpenAiCompatible.make({ name: "primary", baseUrl: url, apiKey, model })
  // A model that was asked for by name is the only one: its failure is the answer.
  const provider = embedded && read.model === undefined
    ? [primary, OpenAiCompatible.make({ name: "backup", baseUrl: url, apiKey, model: "demo-backup" })] as const
    : primary
  const agent = createAgent({
    provider,
    instructions: "You look after a folder of invoices. Use the tools; say briefly what you did.",
    tools: workspace.tools,
    hooks: [
      InputGuardrail.make({ patterns: ["(?i)ignore (all|any) previous instructions"] }),
      OutputGuardrail.make({ patterns: ["sk-[A-Za-z0-9]{20,}"], redact: "[key]", hold: { chars: 64 } }),
      Approval.make({
        tools: ["delete_*", "send_mail"],
        ask: asker(read.approve as Mode, { input: host.stdin, output: host.stdout })
      }),
      ToolArguments.make({
        tools: "send_mail",
        rewrite: (mail) => ({
          ...(mail as { readonly subject: string }),
          subject: `[invoices] ${(mail as { readonly subject: string }).subject}`
        })
      }),
      CostTracker.make({ ...price, limit: budget }),
      ProviderFallback.make(),
      AuditLog.make({ sink: AuditFile.make(join(workspace.root, "audit.jsonl")) })
    ]
  })

  const stop = new AbortController()
  const interrupt = () => stop.abort(new DOMException("interrupted", "AbortError"))
  process.once("SIGINT", interrupt)
  const began = performance.now()
  try {
    const session = await agent.session()
    const cost = () => `${CostTracker.total(session.state).text} of $${budget.toFixed(2)}`
    const colour = !read["no-colour"] &&
      (host.env.FORCE_COLOR !== undefined || (host.stdout.isTTY === true && host.env.NO_COLOR === undefined))
    const tally = counter(agent)
    agent.on(renderer({ colour, write: say, cost }))
    const stream = session.stream(read.prompt, { signal: stop.signal })
    const result = await stream.result
    await session.close()
    say(summary(result, tally, cost(), workspace.outbox.length, performance.now() - began))
    return result.status === "completed" ? 0 : 1
  } catch (error) {
    host.stderr.write(`\nerror  ${explain(error, url)}\n`)
    return 1
  } finally {
    process.off("SIGINT", interrupt)
    await agent.close()
    await workspace.dispose()
    await endpoint?.close()
  }
}

const nonEmpty = (text: string | undefined): string | undefined => text === undefined || text === "" ? undefined : text

const options = (args: ReadonlyArray<string>) => {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        prompt: { type: "string", default: task },
        "base-url": { type: "string" },
        model: { type: "string" },
        approve: { type: "string", default: "ask" },
        budget: { type: "string", default: "0.05" },
        "no-colour": { type: "boolean", default: false },
        help: { type: "boolean", default: false }
      }
    })
    if (!["ask", "allow", "deny"].includes(values.approve)) {
      return `--approve takes ask, allow or deny, found "${values.approve}"`
    }
    if (!(Number(values.budget) > 0)) return `--budget takes dollars, a number greater than 0, found "${values.budget}"`
    return values
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** Counts what the closing summary tells. */
const counter = (agent: Agent) => {
  const tally = { models: 0, tools: 0, decisions: 0, asked: 0, broken: 0, fallbacks: 0 }
  agent.on((event) => {
    if (event.type === "llm-end") tally.models++
    if (event.type === "tool-end" && event.executed) tally.tools++
    if (event.type === "llm-error" && event.decision.type === "fallback") tally.fallbacks++
    if (event.type === "hook-failed") tally.broken++
    if (event.type === "hook") {
      for (const { answer, hook } of event.record.hooks) {
        if (answer !== "skipped" && event.record.point !== "onLlmDelta") tally.decisions++
        if (hook === "human-approval" && event.record.point === "preToolCall" && answer !== "skipped") tally.asked++
      }
    }
  })
  return tally
}

const summary = (
  result: RunResult,
  tally: ReturnType<typeof counter>,
  cost: string,
  mails: number,
  ms: number
): string => {
  const { inputTokens, outputTokens } = result.usage
  const how = result.status === "aborted"
    ? `aborted by ${result.by}: ${safe(result.reason)}`
    : result.status === "limited"
    ? `limited: ${result.limit}`
    : result.status
  return [
    `\ndone  ${how} in ${(ms / 1000).toFixed(1)} s`,
    `      ${tally.models} model calls (${tally.fallbacks} fallback), ${tally.tools} tools, ${mails} mail sent`,
    `      ${tally.decisions} hook decisions (${tally.asked} approvals, ${tally.broken} broken)`,
    `      ${inputTokens} tokens in, ${outputTokens} out, ${cost}`,
    ""
  ].join("\n")
}

/** One line that says what went wrong and what to do. */
const explain = (error: unknown, url: string): string => {
  if (isProviderError(error)) return `${error._tag}: ${safe(error.message)}${advice(error, url)}`
  return error instanceof Error
    ? `${"_tag" in error ? String(error._tag) : error.name}: ${safe(error.message)}`
    : safe(String(error))
}

const advice = (error: ProviderError, url: string): string => {
  switch (error._tag) {
    case "Auth":
      return ` (set OPENAI_API_KEY to a key of ${safe(url)})`
    case "Connection":
      return ` (is something listening at ${safe(url)}?)`
    case "NotFound":
      return " (choose another with --model or OPENAI_MODEL)"
    default:
      return ""
  }
}
