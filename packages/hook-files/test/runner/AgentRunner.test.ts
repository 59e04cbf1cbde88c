import type { AgentHook } from "@belay/core/AgentHook"
import { agentTool } from "@belay/core/agentTool"
import * as Awaitable from "@belay/core/Awaitable"
import { createAgent } from "@belay/core/createAgent"
import { defineTool } from "@belay/core/defineTool"
import { names } from "@belay/core/HookPoint"
import type { Json } from "@belay/core/Json"
import type { LlmRequest } from "@belay/core/LlmCall"
import { text } from "@belay/core/Message"
import * as Agent from "@belay/hook-files/Agent"
import * as Outcome from "@belay/hook-files/Outcome"
import * as Runners from "@belay/hook-files/Runners"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { assert, describe, it } from "vitest"
import { calls, type Line, recording, scripted } from "../../../../test/support/agent.ts"
import { event, trial } from "../support/trial.ts"

const work: Runners.Work = { type: "agent", prompt: "Verify that the tests pass. $ARGUMENTS" }
const output = (args: Json): Line => calls(["StructuredOutput", args])

const results = ({ messages }: LlmRequest): ReadonlyArray<unknown> =>
  messages.flatMap((message) =>
    message.role === "tool" ? [[message.toolName, message.content, message.isError === true]] : []
  )

describe("a hook of type agent", () => {
  // rows: C-02, C-44
  it("works with the agent's tools until it gives its answer", async () => {
    const { ran, tools } = recording()
    const usage = { inputTokens: 10, outputTokens: 5 }
    const { outcomes, requests, result } = await trial(
      [work],
      [
        {
          ...calls(["read_file", { path: "a.ts" }], ["bash", { command: "npm test" }]),
          text: "I look",
          reasoning: "hm",
          metadata: { one: 1 },
          usage
        },
        { ...calls(["bash", { command: "git status" }]), usage },
        { ...output({ ok: false, reason: "2 tests fail", more: 1 }), usage }
      ],
      { tools, model: "main-model" }
    )
    assert.deepInclude(outcomes[0], {
      exitCode: 0,
      stdout: "{\"ok\":false,\"reason\":\"2 tests fail\"}",
      stderr: "",
      timedOut: false
    })
    assert.deepEqual(ran, ["read a.ts", "npm test", "git status"])
    assert.deepEqual(requests[0]!.tools.map(({ name }) => name), [
      "bash",
      "write_file",
      "read_file",
      "StructuredOutput"
    ])
    assert.deepEqual(requests[0]!.tools.at(-1)!.inputSchema, {
      type: "object",
      properties: { ok: { type: "boolean" }, reason: { type: "string" } },
      required: ["ok"],
      additionalProperties: false
    })
    assert.strictEqual(requests[0]!.model, "main-model")
    assert.match(
      text(requests[0]!.messages[0]!),
      /^Verify that the tests pass\. \[data ([0-9a-f]{12})\]\n\{.*\}\n\[\/data \1\]$/
    )
    assert.deepInclude(requests[1]!.messages[1], {
      role: "assistant",
      content: "I look",
      reasoning: "hm",
      metadata: { one: 1 }
    })
    assert.deepEqual(results(requests[1]!), [["read_file", "done", false], ["bash", "done", false]])
    const ids = requests[2]!.messages.flatMap((message) => message.role === "tool" ? [message.toolCallId] : [])
    assert.lengthOf(new Set(ids), 3)
    assert.deepEqual(result.usage, { inputTokens: 30, outputTokens: 15 })
    assert.lengthOf(result.messages, 2)
  })

  // rows: C-44
  it("starts no other agents: their tools are not offered, and do not run when they are called", async () => {
    const asked: Array<unknown> = []
    const helper = createAgent({
      name: "helper",
      provider: {
        name: "helper",
        complete: (request) => Effect.sync(() => asked.push(request)).pipe(Effect.andThen(Effect.never))
      }
    })
    const tools = [agentTool({ name: "research", description: "Researches", agent: helper }), ...recording().tools]
    const { outcomes, requests } = await trial([work], [calls(["research", { message: "x" }]), output({ ok: true })], {
      tools
    })
    assert.notInclude(requests[0]!.tools.map(({ name }) => name), "research")
    assert.deepEqual(results(requests[1]!), [["research", "there is no tool \"research\"", true]])
    assert.deepEqual(asked, [])
    assert.strictEqual(outcomes[0]!.stdout, "{\"ok\":true}")
  })

  // rows: C-44
  it("ends after 50 calls without an answer", async () => {
    const { ran, tools } = recording()
    const { outcomes, requests, result } = await trial(
      [work],
      Array.from({ length: 50 }, () => calls(["bash", { command: "again" }])),
      {
        tools
      }
    )
    assert.deepInclude(outcomes[0], { exhausted: true, timedOut: false, stdout: "", exitCode: undefined })
    assert.deepInclude(Outcome.read(outcomes[0]!, "PreToolUse"), { outcome: "cancelled" })
    assert.lengthOf(ran, 50)
    assert.lengthOf(requests, 51)
    assert.strictEqual(result.text, "the end")
  })

  // rows: C-44
  it("answers with its tool alone: what else it says, and answers that do not fit, are not one", async () => {
    const { outcomes, requests } = await trial([work], [
      { text: "{\"ok\":true}" },
      output({ ok: "yes" }),
      output(null),
      calls(["structuredoutput", { ok: false }]),
      calls(["bash", { command: "x" }], ["StructuredOutput", { ok: true }])
    ])
    assert.strictEqual(outcomes[0]!.stdout, "{\"ok\":true}")
    assert.strictEqual(text(requests[1]!.messages.at(-1)!), "Call StructuredOutput with your answer.")
    assert.deepEqual(results(requests[4]!), [
      ["StructuredOutput", "this is no answer: ok: expected true or false", true],
      ["StructuredOutput", "this is no answer: expected a JSON object", true],
      ["structuredoutput", "there is no tool \"structuredoutput\"", true]
    ])
  })

  it("is under the policy, and what needs a person does not run; nor do hooks run around its tools", async () => {
    const { ran, tools } = recording()
    const seen: Array<string> = []
    const counting = {
      name: "counting",
      ...Object.fromEntries(names.map((point) => [point, () => void seen.push(point)]))
    } as unknown as AgentHook
    const { outcomes, requests } = await trial(
      [work],
      [
        calls(["bash", { command: "rm" }], ["write_file", { path: "a", content: "b" }], ["read_file", { path: "a" }], [
          "read_file",
          {
            at: 1
          }
        ]),
        output({ ok: true })
      ],
      {
        tools,
        hooks: [counting],
        policy: {
          check: ({ name }) =>
            name === "bash"
              ? { type: "deny", reason: "never" }
              : name === "write_file"
              ? { type: "ask", reason: "?", grant: { sandbox: "none" } }
              : { type: "allow", grant: { sandbox: "none" } }
        }
      }
    )
    const [denied, asked, read, misfit] = results(requests[1]!) as ReadonlyArray<ReadonlyArray<unknown>>
    assert.deepEqual([denied, read], [["bash", "never", true], ["read_file", "done", false]])
    assert.match(String(asked![1]), /needs a person's approval/)
    assert.match(String(misfit![1]), /do not fit/)
    assert.deepEqual(ran, ["read a"])
    assert.deepEqual(seen.filter((point) => /Tool|Permission/.test(point)), [])
    assert.strictEqual(outcomes[0]!.exitCode, 0)
  })

  it("has a tool of that name to itself, reads of large results what it can, and of many calls those it may make", async () => {
    const ran: Array<string> = []
    const tool = (name: string, said: string) =>
      defineTool({ name, description: name, input: Schema.Struct({}), execute: () => (ran.push(name), said) })
    const many = Array.from({ length: 100 }, () => ["large", {}] as const)
    const { requests } = await trial([work], [calls(...many), output({ ok: true })], {
      tools: [tool("StructuredOutput", "the agent's"), tool("large", "x".repeat(500_000))]
    })
    assert.deepEqual(requests[0]!.tools.map(({ name }) => name), ["large", "StructuredOutput"])
    assert.lengthOf(ran, 64)
    assert.lengthOf((results(requests[1]!) as ReadonlyArray<ReadonlyArray<string>>)[0]![1]!, 100_000)
  })

  // rows: C-30
  it("is an error that blocks nothing where the model fails, and takes no longer than it may", async () => {
    const ctx = (llm: Agent.Context["llm"]): Agent.Context => ({
      llm,
      tools: [],
      callTool: () => Awaitable.make(Effect.die("not called"))
    })
    const request = { prompt: "", event, timeoutMs: 30_000 }
    const failed = await Effect.runPromise(Agent.run(request, ctx(() => Awaitable.make(Effect.die("a bug")))))
    assert.deepInclude(failed, { exitCode: 1, stdout: "", stderr: "a bug" })
    const late = await Effect.runPromise(
      Agent.run({ ...request, timeoutMs: 20 }, ctx(() => Awaitable.make(Effect.never)))
    )
    assert.deepInclude(late, { timedOut: true, exitCode: undefined })
  })

  it("ends with the turn", async () => {
    const controller = new AbortController()
    const { provider } = scripted([])
    let interrupted = 0
    const aborting = {
      ...provider,
      complete: () =>
        Effect.onInterrupt(
          Effect.andThen(Effect.sync(() => controller.abort()), Effect.never),
          () => Effect.sync(() => void interrupted++)
        )
    }
    await using agent = createAgent({
      provider: aborting,
      hooks: [{
        name: "h",
        timeout: "none",
        preTurn: (_input, ctx) =>
          Effect.asVoid(Runners.make()({ work, input: event, cwd: "/", timeoutMs: 60_000 }, ctx))
      }]
    })
    await agent.run("go", { signal: controller.signal }).then(() => assert.fail("expected a rejection"), () => {})
    assert.strictEqual(interrupted, 1)
  })
})
