/** Hooks that are stored as code, as teams write them: definitions once, attached to a project and to agents. */
import { agentTool } from "@belay/core/agentTool"
import { createAgent } from "@belay/core/createAgent"
import { defineTool } from "@belay/core/defineTool"
import type { Json } from "@belay/core/Json"
import { text } from "@belay/core/Message"
import * as Inkeep from "@belay/hook-files/Inkeep"
import * as McpServers from "@belay/providers/McpServers"
import { assert, describe, it } from "@effect/vitest"
import { fileURLToPath } from "node:url"
import { afterAll } from "vitest"
import { calls, type Line, scripted } from "../../../../../test/support/agent.ts"
import { said } from "../../support/publicFiles.ts"

const mcp = McpServers.make({
  guard: {
    command: process.execPath,
    args: [fileURLToPath(new URL("../../support/mcpGuard.ts", import.meta.url))]
  }
})
afterAll(() => mcp.close())

const project = { _tag: "project" } as const

const world = (
  code: { readonly [id: string]: string },
  attachments: ReadonlyArray<Omit<Inkeep.Attachment, "scope"> & Partial<Pick<Inkeep.Attachment, "scope">>>,
  lines: ReadonlyArray<Line>,
  { helpers = [], results = {}, ...options }: Partial<Inkeep.Options> & {
    readonly helpers?: ReadonlyArray<{ readonly name: string; readonly lines: ReadonlyArray<Line> }>
    readonly results?: { readonly [tool: string]: Json }
  } = {}
) => {
  const definitions = Object.entries(code).map(([id, executeCode]) => ({ id, executeCode }))
  const called: Array<readonly [string, Json]> = []
  const tool = (name: string, readOnly = false) =>
    defineTool({
      name,
      description: name,
      readOnly,
      input: { type: "object" },
      execute: (args) => {
        called.push([name, args as Json])
        return results[name] ?? "ok"
      }
    })
  const hook = Inkeep.make({
    definitions,
    attachments: attachments.map((one) => ({ scope: project, sandboxConfig: { timeoutMs: 60_000 }, ...one })),
    ...options
  })
  const inner = helpers.map(({ lines, name }) => ({ name, ...scripted(lines) }))
  const { provider, requests } = scripted(lines)
  const warnings: Array<string> = []
  const agent = createAgent({
    name: "support",
    provider,
    mcp,
    tools: [
      ...["query_db", "search", "mcp__crm__update"].map((name) => tool(name)),
      tool("get_page", true),
      ...inner.map(({ name, provider: own }) =>
        agentTool({ name: `delegate_to_${name}`, description: name, agent: createAgent({ name, provider: own }) })
      )
    ],
    hooks: [hook]
  })
  agent.on((event) => void (event.type === "warning" && warnings.push(event.message)))
  return { agent, called, requests, warnings, inner }
}

describe("stored hooks", () => {
  // rows: E-50, E-40
  it(
    "look an account up on a real server before a sub-agent starts",
    async () => {
      const { agent, inner, warnings } = world(
        {
          prefetch: `
        export default async function ({ mcp, payload, subAgent }) {
          if (subAgent.name !== "billing") return { action: "proceed" };
          const [, id] = /account (\\d+)/.exec(payload.message) ?? [];
          const { structuredContent, content } = await mcp.callTool("guard.account", { id: Number(id) });
          const account = structuredContent ?? JSON.parse(content[0].text);
          return { action: "proceed", payload: { additionalContext: "Account " + account.id + " is " + account.status + ", invoices " + account.invoices.join(", ") } };
        }`
        },
        [{ hookDefinitionId: "prefetch", hookPoint: "before-delegation", order: 1 }],
        [calls(["delegate_to_billing", { message: "why was account 42 charged?" }])],
        {
          helpers: [{ name: "billing", lines: [{ text: "because" }] }]
        }
      )
      await using _ = agent
      const { messages } = await agent.run("go")
      assert.deepEqual(warnings, [])
      assert.include(inner[0]!.requests[0]!.messages.map(text).join("\n"), "Account 42 is past due, invoices 7, 8")
      assert.deepEqual(said(messages), ["because"])
    }
  )

  // rows: E-50
  it(
    "end everything where there is nothing to do, and what comes after is not run",
    async () => {
      const gate = `export default async ({ mcp, args }) => {
      const { content } = await mcp.callTool("guard", "calendar", { day: args.day });
      return JSON.parse(content[0].text).meetings.length === 0 ? { action: "abort", reason: "no meetings on " + args.day } : { action: "proceed" };
    }`
      const of = () =>
        world({ gate }, [{ hookDefinitionId: "gate", hookPoint: "before-args", onError: "abort" }], [
          calls(["query_db", { day: "2026-01-01" }], ["search", { day: "2026-01-02" }]),
          { text: "never said" }
        ])
      const { agent, requests } = of()
      await using _ = agent
      const outcome = await agent.run("go").then(({ text: answer }) => answer, (error: Error) => error.message)
      assert.match(outcome, /no meetings on 2026-01-01/)
      assert.lengthOf(requests, 1)
    }
  )

  // rows: E-08, E-09
  it(
    "run those of the project first, then the agent's, in their order, each on what the one before made",
    async () => {
      const add =
        `export default ({ args, config }) => ({ action: "proceed", args: { ...args, trail: [...(args.trail ?? []), config] } })`
      const of = (config: string, order: number, scope: Inkeep.Attachment["scope"] = project) => ({
        hookDefinitionId: "add",
        hookPoint: "before-args" as const,
        name: config,
        config,
        order,
        scope
      })
      const support = { _tag: "agent", agentId: "support" } as const
      const { agent, called } = world({ add }, [
        of("agent 1", 1, support),
        of("project 9", 9),
        of("project 2", 2),
        of("other", 0, { _tag: "agent", agentId: "sales" }),
        of("agent 0", 0, support)
      ], [calls(["search", { q: "x" }])])
      await using _ = agent
      await agent.run("go")
      assert.deepEqual(called, [["search", { q: "x", trail: ["project 2", "project 9", "agent 0", "agent 1"] }]])
    }
  )

  // rows: E-50, E-20
  it("remember between calls and turns what the model never sees", async () => {
    const dedupe = `export default async ({ result, variableBag }) => {
      const seen = (await variableBag.get("seen")) ?? [];
      const fresh = result.filter(({ url }) => !seen.includes(url));
      await variableBag.set("seen", [...seen, ...fresh.map(({ url }) => url)]);
      return { action: "proceed", result: fresh };
    }`
    const { agent, requests } = world({ dedupe }, [{ hookDefinitionId: "dedupe", hookPoint: "after-result" }], [
      calls(["search", { q: "a" }]),
      { text: "one" },
      calls(["search", { q: "b" }]),
      { text: "two" }
    ], { results: { search: [{ url: "https://a" }] } })
    await using _ = agent
    const session = await agent.session()
    const first = await session.run("find")
    const second = await session.run("find more")
    assert.deepEqual([first, second].map(({ messages }) => said(messages).at(-1)), ["[{\"url\":\"https://a\"}]", "[]"])
    assert.notInclude(JSON.stringify(requests), "\"seen\"")
  })

  // rows: E-50, E-30
  it("refuse what writes, and keep raw pages as artifacts", async () => {
    const { agent, called } = world(
      {
        audit:
          `export default async ({ tool }) => tool.side_effects ? { action: "block", result: { error: "read-only mode", tool: tool.name, type: tool.type } } : { action: "proceed" }`,
        offload: `export default async ({ args, artifacts, result }) => {
        const reference = await artifacts.write("scrape::" + args.url + "::raw", result, "text/html");
        const back = await artifacts.read("scrape::" + args.url + "::raw");
        return { action: "proceed", result: "extracted " + (back.match(/<li>/g) ?? []).length + " products, raw at " + reference };
      }`
      },
      [
        { hookDefinitionId: "audit", hookPoint: "before-args" },
        { hookDefinitionId: "offload", hookPoint: "after-result" }
      ],
      [calls(["mcp__crm__update", { id: 1 }]), calls(["get_page", { url: "https://shop" }])],
      {
        results: { get_page: "<ul><li>a</li><li>b</li></ul>" }
      }
    )
    await using _ = agent
    const [refused, page] = said((await agent.run("go")).messages)
    assert.deepEqual(JSON.parse(refused!), { error: "read-only mode", tool: "mcp__crm__update", type: "mcp" })
    assert.match(page!, /^extracted 2 products, raw at .+/)
    assert.deepEqual(called, [["get_page", { url: "https://shop" }]])
  })

  // rows: E-11, DEC-09, E-10
  it(
    "go on when they break, with why, unless they are to end everything",
    async () => {
      const broken = {
        shape: "export default async () => ({ proceed: true, reason: \"stop\" })",
        word: "export default async () => ({ action: \"deny\", result: \"no\" })",
        throws: "export default async () => { throw new TypeError(\"vault is sealed\") }",
        syntax: "export default async () => {",
        nothing: "export default async () => {}",
        args: "export default async () => ({ action: \"proceed\", args: \"no object\" })",
        server:
          "export default async ({ mcp }) => { await mcp.callTool(\"guard.broken\", {}); return (await mcp.listTools()).length > 5 ? { action: \"proceed\" } : { action: \"abort\", reason: \"no tools\" } }"
      }
      const { agent, called, warnings } = world(
        broken,
        Object.keys(broken).map((id, order) => ({ hookDefinitionId: id, hookPoint: "before-args" as const, order })),
        [calls(["search", { q: "x" }])]
      )
      await using _ = agent
      assert.strictEqual((await agent.run("go")).status, "completed")
      assert.deepEqual(called, [["search", { q: "x" }]])
      const why = warnings.join("\n")
      assert.match(
        why,
        /shape[^]*word[^]*did you mean "block"[^]*throws[^]*vault is sealed[^]*syntax[^]*nothing[^]*found nothing[^]*an object as args/
      )
      const { agent: strict, called: ran } = world({ throws: broken.throws }, [
        { hookDefinitionId: "throws", hookPoint: "before-args", onError: "abort" }
      ], [calls(["search", { q: "x" }])])
      await using __ = strict
      assert.match(
        await strict.run("go").then(({ text: answer }) => answer, (error: Error) => error.message),
        /vault is sealed/
      )
      assert.deepEqual(ran, [])
    }
  )
})
