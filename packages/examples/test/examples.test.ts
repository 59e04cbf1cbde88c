import { readFileSync } from "node:fs"
import { assert, describe, it } from "vitest"
import { atEndpoint, program } from "./run.ts"

const run = atEndpoint()

describe("the examples", () => {
  it("own-loop: a hand-written loop in 40 lines, fully guarded", async () => {
    assert.deepStrictEqual(await run("guard/own-loop.ts"), [
      "asked about delete_file: delete_file may destroy something",
      "Done, in 1 step.",
      "- delete_file: deleted: true",
      "left: report.md"
    ])
    const lines = readFileSync(program("guard/own-loop.ts"), "utf8").split("\n").filter((line) =>
      !/^(\/\*\*.*)?$/.test(line)
    )
    assert.isAtMost(lines.length, 40)
  })

  it("langchain: an agent of LangChain asks before a file is deleted", async () => {
    assert.deepStrictEqual(await run("guard/langchain.ts"), [
      "asked: really?",
      "tool: deleted notes.tmp",
      "ai: The file is gone."
    ])
  })

  it("claude-agent: a question to a person before a command runs", async () => {
    const [asked, ...answer] = await run("guard/claude-agent.ts")
    assert.strictEqual(asked, "asked about Bash {\"command\":\"ls\"}: really?")
    assert.include(answer.join(""), "permissionDecision: 'allow'")
  })

  it("opencode: a command that is refused, and a key that the model does not read", async () => {
    assert.deepStrictEqual(await run("guard/opencode.ts"), ["GuardError: rm is off", "the model reads: [a key]"])
  })

  it("hello: agent, guardrail, cost limit and approval in at most 20 lines", async () => {
    const lines = await run("hello.ts", {}, { asProcess: true })
    assert.deepStrictEqual(lines, ["approving delete_file", "Done, in 1 step.", "- delete_file: deleted notes.tmp"])
    const source = readFileSync(program("hello.ts"), "utf8").trimEnd().split("\n").filter((line) => line !== "")
    assert.isAtMost(source.length, 20)
  })

  it("resume: a run that asks is finished from a file, with edited arguments", async () => {
    const [asked, status, , mail] = await run("agent/resume.ts")
    assert.match(asked!, /^suspended: send_mail \{"to":"ada@example.com"\}/)
    assert.strictEqual(status, "completed")
    assert.match(mail!, /^- send_mail: sent to bob@example.com/)
  })

  it("effect-face: a hook asks for a service and the layer provides it", async () => {
    const lines = await run("agent/effect-face.ts")
    assert.match(lines[0]!, /Say hello/)
    assert.strictEqual(lines[1], "HookRejected: block-list rejected preTurn: it is on the block list")
  })

  it("handover: a specialist answers the next message too, and hands the conversation back", async () => {
    assert.deepStrictEqual(await run("agent/handover.ts"), [
      "billing: Your invoice is for 12 euros.",
      "billing: You can pay until Friday.",
      "desk: Happy to help. Anything else?"
    ])
  })

  it("background: two agents work while their lead agent goes on", async () => {
    assert.deepStrictEqual(await run("agent/background.ts"), [
      "I have asked two colleagues.",
      "One of them has answered.",
      "They say: \"12 boxes\", \"4.50 euros\""
    ])
  })

  it("plugin: memory, a tool and a hook in one bundle", async () => {
    assert.deepStrictEqual(await run("agent/plugin.ts"), ["used count_notes", "Done, in 1 step.", "- count_notes: 1"])
  })

  it("custom-core: another turn strategy, with every hook around its model calls", async () => {
    const lines = await run("agent/custom-core.ts")
    assert.strictEqual(lines.filter((line) => line.startsWith("answer of")).length, 2)
    assert.include(lines, "2 model calls")
  })

  it("streaming: the stream and the final text are redacted", async () => {
    const lines = await run("agent/streaming.ts")
    assert.match(lines[0]!, /^completed: .*the key is \[key\], keep it safe/)
    assert.strictEqual(lines[1], "counted tokens")
  })

  it("fallback: the backup answers for an overloaded model, and the record says who decided", async () => {
    const lines = await run("agent/fallback.ts", { OPENAI_MODEL: "demo:overloaded" })
    assert.include(lines, "audit: llm_error")
    assert.include(lines, "onLlmError: Transform by provider-fallback")
    assert.match(lines.at(-1)!, /Say hello/)
  })

  it("structured: the answer is an object of the schema's type", async () => {
    assert.deepStrictEqual(await run("agent/structured.ts"), ["3 for ada@example.com"])
  })

  it("tool-arguments: a hook adds an argument that the model never sees", async () => {
    const lines = await run("guardrail/tool-arguments.ts")
    assert.match(lines.join("\n"), /acme: 2 orders/)
    assert.strictEqual(lines.at(-1), "the model never saw the tenant")
  })

  it("skills: a trusted skill runs its script, and nothing that it does not declare", async () => {
    assert.sameMembers([...await run("agent/skills.ts")], [
      "trusting count-lines with 2 files; it may use Read, Bash($CLAUDE_SKILL_DIR/scripts/count.sh *)",
      "refused: Bash {\"command\":\"curl https://example.com\"}",
      "refused: Write {\"file_path\":\"notes.txt\",\"content\":\"\"}",
      "ran: {\"exitCode\":0,\"stdout\":\"3\\n\",\"stderr\":\"\"}"
    ])
  })

  it("tool-search: two of 500 tools are found, and a rule refuses one of them", async () => {
    const lines = await run("agent/tool-search.ts")
    assert.deepStrictEqual(lines.slice(0, 4), [
      "ran: search_tools",
      "ran: country7_weather",
      "ran: search_tools",
      "refused: country7_book_train"
    ])
    assert.match(lines[4]!, /^500 tools, 2 in the request, \d+ lines of names$/)
  })

  it("ready-made-tools: a fix in one folder, without its keys, and without commands that no rule allows", async () => {
    const lines = await run("agent/ready-made-tools.ts")
    assert.deepStrictEqual(lines, [
      "Grep: \"sum.mjs:1:export const sum = (a, b) => a - b\"",
      "Edit: \"replaced 1 occurrence in sum.mjs\"",
      "Read failed",
      "Bash: {\"exitCode\":0,\"stdout\":\"export const sum = (a, b) => a + b\\n\",\"stderr\":\"\"}",
      "refused: Bash",
      "export const sum = (a, b) => a + b"
    ])
  })
})
