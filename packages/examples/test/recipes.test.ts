import { assert, describe, it } from "vitest"
import { atEndpoint } from "./run.ts"

const run = atEndpoint()

describe("the recipes", () => {
  it("result-offloader: the model reads the ends of a log and a reference, and then more of it", async () => {
    const lines = await run("context/result-offloader.ts")
    assert.strictEqual(lines[0], "request 0 took 0 ms")
    assert.include(lines, "request 4999 took 52 ms")
    const text = lines.join("\n")
    assert.match(
      text,
      /\[This result of fetch_log is .* The whole result is <artifact:hook:offload\/t1-[0-9a-f]{14}>; read it with read_artifact\.\]/
    )
    assert.match(text, /- read_artifact: \{"total":\d+,"offset":0,"text":"request 0 took 0 ms/)
    assert.notInclude(text, "request 2500 ")
  })

  // rows: E-50
  it("a diff of 40,000 tokens becomes about 200", async () => {
    const [story, read] = await run("recipes/01-pull-request-diff.ts")
    const [, before, after] = /^the tool gave about (\d+) tokens, the model read about (\d+):$/.exec(story!) ?? []
    assert.isAbove(Number(before), 40_000)
    assert.isBelow(Number(after), 200)
    const files = JSON.parse(read!) as ReadonlyArray<unknown>
    assert.lengthOf(files, 9)
    assert.deepStrictEqual(files[3], { name: "src/part-3.ts", additions: 30, deletions: 3 })
  })

  // rows: E-50
  it("of 5,000 rows, the model reads 20 and that there are more", async () => {
    assert.deepStrictEqual(await run("recipes/02-sql-truncation.ts"), [
      "the model read 20 rows and {\"truncated\":true,\"total\":5000}"
    ])
  })

  // rows: E-50
  it("of 500 lines, the model reads the ten newest or the errors", async () => {
    assert.deepStrictEqual(await run("recipes/03-log-search.ts"), [
      `checkout: 10 of 500 lines, ${Array.from({ length: 10 }, (_, n) => `${499 - n} INFO`).join(", ")}`,
      "errors of checkout: 5 of 500 lines, 487 ERROR, 367 ERROR, 247 ERROR, 127 ERROR, 7 ERROR"
    ])
  })

  // rows: E-50
  it("a billing agent starts with the status and invoices of the account", async () => {
    const lines = await run("recipes/04-billing-prefetch.ts")
    assert.match(lines[0]!, /^billing reads: "What is known of the account: .*past due.*acme-17.*\$120\.00/)
    assert.strictEqual(lines[2], "in 1 call")
    assert.strictEqual(lines.at(-1), "- ask_billing: The invoice acme-17 over $120.00 is not paid.")
  })

  // rows: E-50
  it("a security reviewer reads SECURITY.md and the CVEs; another reviewer does not", async () => {
    const [security, style] = (await run("recipes/05-security-reviewer.ts")).join("\n").split(
      "the style reviewer reads:"
    )
    assert.match(security!, /SECURITY\.md:\nNever log tokens/)
    assert.match(security!, /CVE-2099-0001 .*\nCVE-2099-0002 /)
    assert.strictEqual(style!.trim(), "Review the diff.")
  })

  // rows: E-50
  it("sub-agents at every depth get the features of the tenant, but not the tenant", async () => {
    assert.deepStrictEqual(await run("recipes/06-feature-flags.ts"), [
      "leader reads: \"Features that are on: new-checkout, dark-mode.\\n\\nPlan the page.\"",
      "worker reads: \"Features that are on: new-checkout, dark-mode.\\n\\nBuild the page.\"",
      "no model saw the tenant"
    ])
  })

  // rows: E-50
  it("a credential reaches only the tool: not the context, transcript, events, records, snapshot or store", async () => {
    const lines = await run("recipes/07-credentials.ts")
    assert.notInclude(lines.join("\n"), "fake-key")
    assert.deepStrictEqual(lines, [
      "the tool was called 2 times, with the key: true",
      "the model reads: {\"charged\":5,\"request\":{\"headers\":{\"authorization\":\"Bearer {{api_key}}\"}}}",
      "the model reads: \"{{api_key}} may not charge 500\"",
      "the model reads: \"there is no credential root_key for charge_card\"",
      "the model reads: \"refunded\"",
      "context: has the placeholder, not the key",
      "transcript: has the placeholder, not the key",
      "events: has the placeholder, not the key",
      "records: has nothing, not the key",
      "snapshot: has the placeholder, not the key",
      "store: has the placeholder, not the key"
    ])
  })

  // rows: E-50
  it("every database call gets the tenant, even if the model wrote another", async () => {
    assert.deepStrictEqual(await run("recipes/08-tenant.ts"), [
      "db_read orders of acme",
      "db_write orders of acme",
      "weather clouds of undefined",
      "the model never saw the tenant"
    ])
  })

  // rows: E-50
  it("yesterday becomes an ISO 8601 date of the given clock", async () => {
    assert.deepStrictEqual(await run("recipes/09-dates.ts"), [
      "report of 2026-02-28",
      "report of 2026-03-01",
      "report of 2026-03-02",
      "report of 2024-02-29",
      "someday is no date"
    ])
  })

  // rows: E-50
  it("in audit mode, reading tools run and all others are rejected", async () => {
    assert.deepStrictEqual(await run("recipes/10-audit-mode.ts"), [
      "Done, in 3 steps.",
      "- read_file: contents of notes.txt",
      "- delete_file: agent is in read-only mode",
      "- count_files: agent is in read-only mode"
    ])
  })

  // rows: E-50
  it("tools are rejected with BUDGET_EXCEEDED when the conversation costs too much, also after a restart", async () => {
    assert.deepStrictEqual(await run("recipes/11-budget-guard.ts"), [
      "first: found",
      "second, after a restart: BUDGET_EXCEEDED: 60 of 50 micro-dollars are spent",
      "third, after a restart: BUDGET_EXCEEDED: 90 of 50 micro-dollars are spent"
    ])
  })

  // rows: E-50
  it("files are written only below the output folder: not by `..`, an absolute path or a symbolic link", async () => {
    assert.deepStrictEqual(await run("recipes/12-output-folder.ts"), [
      "\"report.md\": wrote report.md",
      "\"parts/one.md\": wrote parts/one.md",
      "\"..notes.md\": wrote ..notes.md",
      "\"WORKSPACE/output/absolute.md\": wrote absolute.md",
      "\"../outside/up.md\": file_write is refused: it is not below the output folder",
      "\"parts/../../outside/up.md\": file_write is refused: it is not below the output folder",
      "\"WORKSPACE/outside/absolute.md\": file_write is refused: it is not below the output folder",
      "\"WORKSPACE/output-beside/x.md\": file_write is refused: it is not below the output folder",
      "\"link/through.md\": file_write is refused: link is a symbolic link",
      "\"dangling.md\": file_write is refused: dangling.md is a symbolic link",
      "\".\": file_write is refused: it is not below the output folder",
      "\"nul\\u0000.md\": file_write is refused: it is no path",
      "outside there are 0 files, beside 2 folders"
    ])
  })

  // rows: E-50
  it("a page becomes an artifact, and the model reads what was found in it", async () => {
    assert.deepStrictEqual(await run("recipes/13-scrape.ts"), [
      "extracted 12 products, stored raw at artifacts://scrape::https://shop.example/lamps::raw",
      "kept hook:scrape::https://shop.example/lamps::raw: text/html, 6898 characters",
      "the model never saw the page"
    ])
  })

  // rows: E-50
  it("sections are appended to a draft, and the model reads its length", async () => {
    assert.deepStrictEqual(await run("recipes/14-report.ts"), [
      "Section 1 written (600 words). Total draft: 600 words.",
      "Section 2 written (628 words). Total draft: 1,228 words.",
      "Section 3 written (612 words). Total draft: 1,840 words.",
      "the draft has 1840 words"
    ])
  })

  // rows: E-50
  it("a search result that was shown is not shown again, also in later turns", async () => {
    assert.deepStrictEqual(await run("recipes/15-search-dedup.ts"), [
      "{\"results\":[\"https://a.example/1\",\"https://b.example/2\"],\"alreadySeen\":1}",
      "{\"results\":[\"https://c.example/3\"],\"alreadySeen\":1}",
      "{\"results\":[],\"alreadySeen\":1}"
    ])
  })

  // rows: E-50
  it("a pipeline adds tenant and token, stores the raw result, unifies errors and reduces large results", async () => {
    const lines = await run("recipes/16-pipeline.ts")
    assert.deepStrictEqual(lines.slice(0, 6), [
      "GET /few for acme, with the token",
      "GET /all for acme, with the token",
      "GET /broken for acme, with the token",
      "the model reads: {\"items\":[{\"id\":0,\"note\":\"some words\"},{\"id\":1,\"note\":\"some words\"}]}",
      "the model reads: {\"total\":5000,\"first\":[0,1]}",
      "the model reads: {\"error\":{\"tool\":\"api_get\",\"message\":\"timeout of the upstream\",\"retryable\":true}}"
    ])
    assert.match(lines[6]!, /^kept: hook:raw::all, 158\d+ characters$/)
    assert.lengthOf(lines.filter((line) => line.startsWith("kept: hook:raw::")), 3)
    assert.strictEqual(lines.at(-1), "the model saw neither token nor tenant")
  })

  // rows: E-50
  it("a sub-agent ends the whole flow if there are no meetings", async () => {
    assert.deepStrictEqual(await run("recipes/17-calendar-gate.ts"), [
      "1 meetings: completed, Here is the briefing. (planner asked 2 times, writer 1)",
      "0 meetings: aborted, no meetings today (planner asked 1 times, writer 0)"
    ])
  })
})
