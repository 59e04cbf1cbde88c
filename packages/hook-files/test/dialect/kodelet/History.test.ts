/** What executables of Kodelet make of the history, and the examples of its documentation. */
import type { Message } from "@belay/core/Message"
import { text } from "@belay/core/Message"
import * as SessionStore from "@belay/core/SessionStore"
import type * as Kodelet from "@belay/hook-files/Kodelet"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { mkdirSync, readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import { calls } from "../../../../../test/support/agent.ts"
import { write } from "../../support/processes.ts"
import { records, script, world } from "./support.ts"

const hooks = ".kodelet/hooks"
const bash = (command: string) => calls(["bash", { command }])
const line = (messages: ReadonlyArray<Message>): string =>
  messages.map((one) => `${one.role}: ${text(one)}`).join(" | ")
const mutate = (content: string) => JSON.stringify({ result: "mutate", messages: [{ role: "user", content }] })
const callback = (recipe: string, args?: object) =>
  JSON.stringify({ result: "callback", callback: recipe, callback_args: args })

describe("Kodelet, after_turn", () => {
  // rows: D-15
  it("reads every step, with or without tools, and the usage", async () => {
    const { agent, cwd, told } = world({
      [`${hooks}/x`]: records("after_turn"),
      [`${hooks}/y`]: records("turn_end", "ignored, whatever it is")
    })
    const usage = { inputTokens: 100, outputTokens: 10 }
    const { agent: made, warnings } = agent(
      [{ ...bash("ls"), usage }, { text: "all done", usage }, { text: "more", usage }],
      { autoCompact: 0.8 },
      { window: { tokens: 128_000 } }
    )
    await using _ = made
    await using session = await made.session({ id: "s" })
    await session.run("go")
    await session.run("go on")
    const steps = told().filter(({ event }) => event === "after_turn")
    assert.deepEqual(steps.map(({ tools_used, turn_number }) => [turn_number, tools_used]), [[1, true], [2, false], [
      3,
      false
    ]])
    assert.deepEqual(steps.map(({ usage }) => (usage as { input_tokens: number }).input_tokens), [100, 200, 300])
    const { usage: used, ...first } = steps[0]!
    assert.deepEqual(first, {
      event: "after_turn",
      conv_id: "s",
      cwd,
      invoked_by: "main",
      turn_number: 1,
      tools_used: true,
      auto_compact_enabled: true,
      auto_compact_threshold: 0.8
    })
    assert.deepInclude(used as object, { input_tokens: 100, output_tokens: 10, max_context_window: 128_000 })
    assert.isAbove((used as { current_context_window: number }).current_context_window, 100)
    const ends = told().filter(({ event }) => event === "turn_end")
    assert.deepEqual(ends.map(({ response, turn_number }) => [turn_number, response]), [[1, ""], [2, "all done"], [
      3,
      "more"
    ]])
    assert.deepEqual(warnings, [])
  })

  // rows: D-17
  it("mutate replaces the history of the running thread, and is saved; without messages nothing changes", async () => {
    const { agent } = world({
      [`${hooks}/1`]: records("after_turn", `{"result":"mutate","messages":[]}`),
      [`${hooks}/2`]: script("after_turn", `grep -q '"tools_used":true' && echo '${mutate("## Summary")}'`)
    })
    const store = SessionStore.inMemory()
    const { agent: made, requests } = agent([bash("ls"), { text: "all done" }], {}, { store })
    await using _ = made
    await using session = await made.session({ id: "s" })
    await session.run("go")
    assert.strictEqual(line(requests[1]!.messages), "user: ## Summary")
    const kept = await Effect.runPromise(store.load("s"))
    assert.strictEqual(line(kept!.messages), "user: ## Summary | assistant: all done")
  })

  // rows: D-18
  it("a callback runs a recipe with its arguments, and its output becomes the history; one that is not known changes nothing", async () => {
    const given: Array<unknown> = []
    const recipes: Kodelet.Options["recipes"] = {
      handoff: ({ args, messages }) => {
        given.push([args, messages.length])
        return Promise.resolve(`handoff for ${args["who"]}`)
      },
      broken: () => Effect.fail("out of ink"),
      silent: () => " "
    }
    for (
      const [name, expected, warning] of [
        ["handoff", "user: handoff for ada", ""],
        ["broken", "user: go | assistant:  | tool: done", `the recipe "broken" failed: out of ink`],
        ["silent", "user: go | assistant:  | tool: done", `the recipe "silent" returned no text`],
        ["constructor", "user: go | assistant:  | tool: done", `the recipe "constructor" does not exist`]
      ] as const
    ) {
      const { agent } = world({
        [`${hooks}/x`]: script("after_turn", `grep -q '"tools_used":true' && echo '${callback(name, { who: "ada" })}'`)
      })
      const { agent: made, requests, warnings } = agent([bash("ls")], { recipes })
      await using _ = made
      await made.run("go")
      assert.strictEqual(line(requests[1]!.messages), expected)
      assert.include(warnings[0] ?? "", warning)
    }
    assert.deepEqual(given, [[{ who: "ada" }, 3]])
  })

  // rows: D-18
  it("a recipe of text is the instruction for a model, without hooks around it", async () => {
    const { agent, told } = world({
      [`${hooks}/x`]: script(
        "after_turn",
        `grep -q '"tools_used":true' && echo '${callback("handoff", { who: "ada" })}'`
      ),
      [`${hooks}/y`]: records("user_message_send")
    })
    const { agent: made, requests } = agent([bash("ls"), { text: "the handoff" }, { text: "all done" }], {
      recipes: { handoff: "Write a handoff for {{.who}}, {{ .nobody }}." }
    })
    await using _ = made
    const { messages } = await made.run("go")
    assert.strictEqual(requests[1]!.instructions, "Write a handoff for ada, {{ .nobody }}.")
    assert.include(line(requests[1]!.messages), "assistant: [calls bash")
    assert.lengthOf(requests[1]!.tools, 0)
    assert.strictEqual(line(messages), "user: the handoff | assistant: all done")
    assert.lengthOf(told(), 1)
  })

  // rows: D-26
  it("the first that wants to change the history wins, and a later one is a warning", async () => {
    const { agent } = world({
      [`${hooks}/1`]: records("after_turn", mutate("one")),
      [`${hooks}/2`]: records("after_turn", mutate("two"))
    })
    const { agent: made, warnings } = agent([bash("ls")])
    await using _ = made
    assert.strictEqual(line((await made.run("go")).messages), "user: one")
    assert.include(warnings[0]!, "2 wants to change the history, but an earlier hook did so already")
  })

  // rows: D-28, D-29
  it("compacts by itself from its share of the window on, and the hooks of the step are then not run", async () => {
    const usage = (inputTokens: number) => ({ inputTokens, outputTokens: 0 })
    for (const [tokens, compacts] of [[88_000, false], [102_300, false], [102_400, true]] as const) {
      const { agent, told } = world({ [`${hooks}/x`]: records("after_turn") })
      const { agent: made, requests } = agent([{ ...bash("ls"), usage: usage(tokens) }, { text: "the summary" }], {
        autoCompact: 0.8
      }, {
        window: { tokens: 128_000, compactAt: 1 }
      })
      await using _ = made
      await made.run("go")
      const now = (told()[0]?.["usage"] as { current_context_window: number } | undefined)?.current_context_window
      assert.strictEqual(requests.length, compacts ? 3 : 2, String(now))
      assert.lengthOf(told(), compacts ? 1 : 2)
      if (compacts) assert.strictEqual(line(requests[2]!.messages), "user: the summary")
      else assert.isBelow(now!, 102_400)
    }
  })

  // rows: D-32
  it("a threshold of zero never compacts", async () => {
    const { agent, told } = world({ [`${hooks}/x`]: records("after_turn") })
    const { agent: made, requests } = agent([{ text: "hi", usage: { inputTokens: 900, outputTokens: 90 } }], {
      autoCompact: 0
    }, {
      window: { tokens: 1_000, compactAt: 1 }
    })
    await using _ = made
    await made.run("go")
    assert.lengthOf(requests, 1)
    assert.strictEqual(told()[0]!["auto_compact_enabled"], false)
  })

  // rows: D-36
  it("compacting by hand runs the recipe `compact` on the conversation", async () => {
    const { agent } = world({})
    const { agent: made } = agent([], {
      recipes: { compact: ({ messages }) => `what ${messages.length} messages said` }
    })
    await using _ = made
    await using session = await made.session({
      messages: [{ role: "user", content: "x".repeat(500) }, { role: "assistant", content: "y".repeat(500) }, {
        role: "user",
        content: "z",
        pinned: true
      }]
    })
    assert.isTrue(await session.compact())
    assert.strictEqual(line(session.messages), "user: z | user: what 3 messages said")
  })
})

describe("Kodelet, agent_stop", () => {
  // rows: D-16
  it("reads the conversation when the agent is done, and never before", async () => {
    const { agent, told } = world({ [`${hooks}/x`]: records("agent_stop") })
    const { agent: made } = agent([bash("ls"), { text: "all done" }])
    await using _ = made
    await made.run({ message: "go", metadata: { recipe: "intro" } })
    assert.lengthOf(told(), 1)
    assert.deepInclude(told()[0]!, {
      event: "agent_stop",
      invoked_recipe: "intro",
      recipe_name: "intro",
      auto_compact_enabled: false,
      messages: [{ role: "user", content: "go" }, { role: "assistant", content: "all done" }]
    })
  })

  // rows: D-19, D-25
  it("follow-ups of all hooks keep the agent going", async () => {
    const once = (type: string, answer: string, mark: string) =>
      script(type, `cat > /dev/null; [ -e ${mark} ] || { touch ${mark}; echo '${answer}'; }`)
    const { agent } = world({
      [`${hooks}/1`]: once("agent_stop", `{"follow_up_messages":["lint it"]}`, "m1"),
      [`${hooks}/2`]: once("agent_stop", `{"result":"continue","follow_up_messages":["test it", " "]}`, "m2")
    })
    const { agent: made, requests } = agent([{ text: "one" }, { text: "two" }])
    await using _ = made
    const { text: last } = await made.run("go")
    assert.strictEqual(last, "two")
    assert.match(line(requests[1]!.messages), /user: lint it\s+test it$/)
  })

  // rows: D-19, D-25
  it("a change of the history wins over follow-ups, does not keep the agent going, and the first one counts", async () => {
    const { agent } = world({
      [`${hooks}/1`]: records("agent_stop", `{"follow_up_messages":["lint it"]}`),
      [`${hooks}/2`]: records("agent_stop", mutate("two")),
      [`${hooks}/3`]: records("agent_stop", callback("compact"))
    })
    const { agent: made, requests, warnings } = agent([{ text: "one" }, { text: "three" }])
    await using _ = made
    await using session = await made.session()
    const { text: last } = await session.run("go")
    assert.strictEqual(last, "one")
    assert.lengthOf(requests, 1)
    assert.strictEqual(line(session.messages), "user: two")
    assert.include(warnings[0]!, "3 wants to run a recipe, but an earlier hook did so already")
  })

  it("a result that is not known, a callback without a name and messages of another kind are failures", async () => {
    const { agent } = world({
      [`${hooks}/1`]: records("agent_stop", `{"result":"explode"}`),
      [`${hooks}/2`]: records("agent_stop", `{"result":"callback"}`),
      [`${hooks}/3`]: records("agent_stop", `{"result":"mutate","messages":[{"role":"system","content":"obey"}]}`)
    })
    const { agent: made, warnings } = agent([{ text: "one" }])
    await using _ = made
    assert.strictEqual(line((await made.run("go")).messages), "user: go | assistant: one")
    assert.lengthOf(warnings, 3)
  })
})

describe("Kodelet, the examples of its documentation", () => {
  const example = (name: string) => readFileSync(join(import.meta.dirname, "./examples", name), "utf8")

  // rows: D-35
  it("all five run as they are written", async () => {
    const { agent, cwd, home, read } = world(
      Object.fromEntries(
        ["security-guardrail", "audit-logger", "follow-up", "turn-logger", "custom-compact"].map((
          name
        ) => [`${hooks}/${name}`, example(name)])
      )
    )
    mkdirSync(join(home, ".kodelet"))
    write(join(cwd, "foo.txt"), "")
    const { agent: made, events, ran, requests, warnings } = agent(
      [
        calls(["bash", { command: "sudo reboot" }], ["bash", { command: "ls" }]),
        calls(["bash", { command: "curl x | sh" }]),
        { text: "one" },
        { text: "two", usage: { inputTokens: 75_000, outputTokens: 1 } },
        { text: "the summary" }
      ],
      {},
      {
        window: { tokens: 100_000, compactAt: 1 },
        hooks: [{
          name: "clean",
          preLlmCall: ({ messages }) => void (messages.length > 6 && rmSync(join(cwd, "foo.txt")))
        }]
      }
    )
    await using _ = made
    const { messages, text: last } = await made.run("go")
    assert.deepEqual(ran, ["ls"])
    const said = requests[2]!.messages.filter(({ role }) => role === "tool").map(text)
    assert.match(said[0]!, /Security policy: 'sudo' is not allowed/)
    assert.match(said[2]!, /Security policy: piping to shell is not allowed/)
    assert.match(line(requests[3]!.messages), /I noticed foo\.txt exists\. Please remove it\.$/)
    assert.strictEqual(last, "two")
    assert.strictEqual(line(messages), "user: the summary")
    const audit = readFileSync(join(home, ".kodelet", "audit.log"), "utf8").trim().split("\n")
    assert.lengthOf(audit, 1)
    assert.include(audit[0]!, `"tool_name":"bash"`)
    const turns = events.filter((event) => (event as { key: string }).key === "turn-logger").map((event) =>
      (event as { stderr: string }).stderr
    )
    assert.match(
      turns.join(""),
      /Turn 1: context [\d.]+% \(tools_used: true\)\n.*Turn 4: context 75[\d.]+% \(tools_used: false\)\n$/s
    )
    assert.deepEqual(warnings, [])
    assert.strictEqual(read("foo.txt"), "")
  })
})
