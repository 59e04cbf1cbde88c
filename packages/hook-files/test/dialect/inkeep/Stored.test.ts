/** Use cases of stored hooks, as code that is kept somewhere and runs in a sandbox. */
import type { Json } from "@belay/core/Json"
import { assert, describe, it } from "@effect/vitest"
import { calls } from "../../../../../test/support/agent.ts"
import { type Hook, said, world } from "./support.ts"

const take = (args: Json) => calls(["take", args])
const last = async (hooks: ReadonlyArray<Hook>, args: Json, options: Parameters<typeof world>[2] = {}) => {
  const one = world(hooks, [take(args)], options)
  const result = await one.agent.run("go")
  return { ...one, result, read: said(result.messages) }
}

describe("Inkeep, stored code", () => {
  // rows: E-10, DEC-01, DEC-02
  it("runs in a sandbox, where nothing of the host is", async () => {
    const { read, warnings } = await last([
      { at: "before-args", name: "env", does: "return { action: 'proceed', args: { answer: process.env.HOME } }" },
      { at: "before-args", name: "net", does: "return fetch('http://127.0.0.1')" },
      { at: "before-args", name: "loop", does: "for (;;) {}", sandboxConfig: { timeoutMs: 100 } },
      {
        at: "before-args",
        name: "kind",
        does: "console.log('looks'); return { action: 'proceed', args: { answer: typeof require } }"
      }
    ], {})
    assert.deepEqual(read, ["undefined"])
    assert.match(
      warnings.join("\n"),
      /env .*process.* is not defined\nnet .*fetch.* is not defined\nloop .*took longer than 100 ms|interrupted/
    )
    assert.include(warnings.join("\n"), "kind: looks")
  })

  // rows: E-50
  it("keeps the first rows of a result that is too large", async () => {
    const rows = Array.from({ length: 500 }, (_, id) => ({ id }))
    const { read } = await last([{
      at: "after-result",
      does:
        "const { rows } = ctx.result; return { action: 'proceed', result: { rows: rows.slice(0, ctx.config.keep), truncated: true, total: rows.length } }",
      config: { keep: 2 }
    }], { answer: { rows } })
    assert.deepEqual(read.map((one) => JSON.parse(one) as Json), [{
      rows: [{ id: 0 }, { id: 1 }],
      truncated: true,
      total: 500
    }])
  })

  // rows: E-50
  it("turns `yesterday` into a date and adds the tenant", async () => {
    const { took } = await last(
      [
        {
          at: "before-args",
          order: 1,
          name: "dates",
          does:
            "const day = new Date(Date.UTC(2026, 0, 2) - 864e5).toISOString().slice(0, 10); return { action: 'proceed', args: { ...ctx.args, date: day } }"
        },
        {
          at: "before-args",
          order: 2,
          name: "tenant",
          does: "return { action: 'proceed', args: { ...ctx.args, tenant_id: ctx.conversation.tenantId } }"
        }
      ],
      { date: "yesterday" },
      { tenantId: "acme" }
    )
    assert.deepEqual(took, [{ date: "2026-01-01", tenant_id: "acme" }])
  })

  // rows: E-50
  it("in audit mode lets only tools run that change nothing", async () => {
    const guard =
      "return ctx.tool.sideEffects ? { action: 'block', result: 'agent is in read-only mode' } : { action: 'proceed' }"
    const { agent, ran } = world([{ at: "before-args", does: guard }], [
      calls(["read_file", { path: "a" }], ["bash", { command: "rm a" }])
    ])
    const { messages } = await agent.run("go")
    assert.deepEqual(ran, ["read a"])
    assert.deepEqual(said(messages), ["done", "agent is in read-only mode"])
  })

  // rows: E-50
  it("blocks when the budget in the bag is used up", async () => {
    const does = `const spent = ((await ctx.variableBag.get("spent")) ?? 0) + 40
      await ctx.variableBag.set("spent", spent)
      return spent > 100 ? { action: "block", result: "BUDGET_EXCEEDED" } : { action: "proceed" }`
    const { agent } = world([{ at: "before-args", does }], [take({ n: 1 }), take({ n: 2 }), take({ n: 3 })])
    assert.deepEqual(said((await agent.run("go")).messages), ["taken", "taken", "BUDGET_EXCEEDED"])
  })

  // rows: E-50
  it("lets files be written in one folder only", async () => {
    const does = `const path = String(ctx.args.path)
      return path.startsWith("/workspace/output/") && !path.split("/").includes("..")
        ? { action: "proceed" } : { action: "block", result: "only below /workspace/output/" }`
    const paths = ["/workspace/output/a", "/workspace/output/../secret", "/etc/passwd"]
    const { agent, ran } = world([{ at: "before-args", does }], [
      calls(...paths.map((path) => ["write_file", { path, content: "" }] as const))
    ])
    await agent.run("go")
    assert.deepEqual(ran, ["write /workspace/output/a"])
  })

  // rows: E-50
  it("routes what is large to an artifact, and leaves out what was seen", async () => {
    const does = `const ref = await ctx.artifacts.write("scrape::" + ctx.args.url + "::raw", ctx.result.html)
      const seen = (await ctx.variableBag.get("seen_urls")) ?? []
      const fresh = ctx.result.links.filter((url) => !seen.includes(url))
      await ctx.variableBag.set("seen_urls", [...seen, ...fresh])
      return { action: "proceed", result: fresh.length + " new links, raw at " + ref }`
    const page = (links: ReadonlyArray<string>) => take({ url: "u", answer: { html: "<p>".repeat(100), links } })
    const { agent } = world([{ at: "after-result", does }], [page(["a", "b"]), page(["b", "c"])])
    assert.deepEqual(said((await agent.run("go")).messages), [
      "2 new links, raw at <artifact:hook:scrape::u::raw>",
      "1 new links, raw at <artifact:hook:scrape::u::raw>"
    ])
  })

  // rows: E-50
  it("composes: errors in one shape, and the whole flow ends where there is nothing to do", async () => {
    const shape =
      "return ctx.isError ? { action: 'proceed', result: { code: 'DB', detail: String(ctx.result.error).slice(0, 40) } } : { action: 'proceed' }"
    const { read } = await last([{ at: "after-result", does: shape }], { answer: "fail" })
    assert.match(read[0]!, /"code":"DB"/)
    const gate =
      "return ctx.result.length === 0 ? { action: 'abort', reason: 'no meetings today' } : { action: 'proceed' }"
    const { requests, result } = await last([{ at: "after-result", does: gate }], { answer: [] })
    assert.deepInclude(result, { status: "aborted", reason: "no meetings today" })
    assert.lengthOf(requests, 1)
  })
})
