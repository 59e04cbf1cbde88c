/**
 * Executables of Kodelet as people keep them in `.kodelet/hooks`, loaded from disk, with what Kodelet would have made
 * of each answer.
 */
import { agentTool } from "@belay/core/agentTool"
import { createAgent } from "@belay/core/createAgent"
import type { Json } from "@belay/core/Json"
import { text } from "@belay/core/Message"
import * as Command from "@belay/hook-files/Command"
import * as Kodelet from "@belay/hook-files/Kodelet"
import * as Runners from "@belay/hook-files/Runners"
import { assert, describe, it } from "@effect/vitest"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { calls, recording, scripted } from "../../../../../test/support/agent.ts"
import { alive, folder, write } from "../../support/processes.ts"
import { judge, said, start } from "../../support/publicFiles.ts"
import { at, bash, guards, lines, node, python, sh } from "./scripts.ts"

describe("executables of Kodelet", () => {
  // rows: D-12, D-24
  it.each(guards)("guard calls $title", async ({ files, steps, warns }) => {
    const { heard, read } = await judge("kodelet", files, steps, { answers: { read_file: "the password is hunter2" } })
    if (warns === undefined) assert.deepEqual(heard.warnings, [])
    else assert.match(heard.warnings.join("\n"), warns)
    if (files[at("zz-log")] !== undefined) {
      assert.deepEqual(lines(read("~/audit.log")), [["read_file", true], ["bash", false], ["fail", false], [
        "view",
        true
      ]])
    }
  })

  // rows: D-11
  it("read who asks, where, and about what", async () => {
    const { cwd, read } = await judge("kodelet", {
      [at("tell")]: bash("before_tool_call", "echo \"$payload\" > told.json; pwd > where")
    }, [
      [...sh("ls"), "runs"]
    ])
    const { conv_id, tool_user_id, ...told } = JSON.parse(read("told.json"))
    assert.deepEqual(told, {
      event: "before_tool_call",
      cwd,
      invoked_by: "main",
      tool_name: "bash",
      tool_input: { command: "ls" }
    })
    assert.isString(conv_id)
    assert.isString(tool_user_id)
    assert.strictEqual(read("where").trim(), cwd)
  })

  // rows: D-14
  it("keep messages from the model and out of the history", async () => {
    const { agent, requests } = start("kodelet", {
      [at("pii")]: node(
        "user_message_send",
        "if (/\\d{3}-\\d{2}-\\d{4}/.test(payload.message)) console.log(JSON.stringify({ blocked: true, reason: 'a social security number' }))"
      )
    }, [{ text: "one" }, { text: "two" }])
    await using _ = agent
    const session = await agent.session()
    await session.run("hello")
    const failed = await session.run("mine is 123-45-6789").then(() => "", (error: Error) => error.message)
    assert.include(failed, "message blocked by hook: a social security number")
    await session.run("bye")
    assert.deepEqual(requests[1]!.messages.map(text), ["hello", "one", "bye"])
  })

  // rows: D-15
  it("see every answer of the model, with the usage", async () => {
    const { agent, read } = start("kodelet", {
      [at("turns")]: bash(
        "after_turn",
        `jq -c '[.turn_number, .tools_used, .usage.current_context_window, .usage.max_context_window, .auto_compact_enabled]' <<< "$payload" >> turns.log
    ratio=$(( $(jq '.usage.current_context_window' <<< "$payload") * 100 / $(jq '.usage.max_context_window' <<< "$payload") ))
    echo "$ratio%" >&2`
      ),
      [at("end")]: bash(
        "turn_end",
        "jq -c '[.turn_number, .response]' <<< \"$payload\" >> ends.log; echo '{\"result\":\"mutate\"}'"
      )
    }, [
      { ...calls(["bash", { command: "ls" }]), usage: { inputTokens: 100, outputTokens: 20 } },
      { text: "done", usage: { inputTokens: 200, outputTokens: 10 } },
      { text: "again", usage: { inputTokens: 300, outputTokens: 10 } }
    ], { window: { tokens: 1_000 } })
    await using _ = agent
    const session = await agent.session()
    await session.run("go")
    await session.run("more")
    const turns = lines(read("turns.log")) as ReadonlyArray<ReadonlyArray<Json>>
    assert.deepEqual(turns.map(([turn, tools]) => [turn, tools]), [[1, true], [2, false], [3, false]])
    assert.deepEqual(lines(read("ends.log")), [[1, ""], [2, "done"], [3, "again"]])
  })

  // rows: D-16, D-25
  it(
    "ask for more when the agent is done, all of them, and only the main agent",
    async () => {
      const inner = scripted([{ text: "helped" }])
      const helper = createAgent({ name: "helper", provider: inner.provider })
      const cleanup = (file: string, message: string) =>
        bash(
          "agent_stop",
          `[ "$(jq -r .invoked_by <<< "$payload")" = main ] || { echo sub >> subs.log; exit 0; }
    if [ -f ${file} ]; then rm ${file}; jq -n --arg m '${message}' '{follow_up_messages: [$m]}'; fi`
        )
      const { agent, read, requests } = start(
        "kodelet",
        {
          [at("10-foo")]: cleanup("foo.txt", "Remove foo."),
          [at("20-bar")]: cleanup("bar.txt", "Remove bar."),
          [at("30-log")]: python(
            "agent_stop",
            `open("seen.log", "a").write(json.dumps([m["role"] for m in payload["messages"]]) + "\\n")
print(json.dumps({"result": "continue", "follow_up_messages": []}))`
          ),
          "foo.txt": "",
          "bar.txt": ""
        },
        [calls(["helper", { message: "help" }]), { text: "done" }, { text: "really done" }],
        {
          tools: [agentTool({ name: "helper", description: "helps", agent: helper })]
        }
      )
      await using _ = agent
      assert.strictEqual((await agent.run("go")).text, "really done")
      assert.deepEqual(requests[2]!.messages.map(text).slice(-2), ["done", "Remove foo.\n\nRemove bar."])
      assert.strictEqual(read("subs.log"), "sub\nsub\n")
      const roles = lines(read("seen.log")) as ReadonlyArray<ReadonlyArray<Json>>
      assert.deepEqual(roles.at(-1), ["user", "assistant", "user", "assistant"])
    }
  )

  // rows: D-17, D-19, D-26
  it("put another history in place, and the first to do so counts", async () => {
    const mutate = (type: string, content: string, more = "") =>
      bash(type, `jq -n '{result: "mutate", messages: [{role: "user", content: "${content}"}]${more}}'`)
    const { agent, heard, requests } = start("kodelet", {
      [at("a")]: bash(
        "agent_stop",
        "grep -q remember <<< \"$payload\" || exit 0; jq -n '{result: \"mutate\", messages: [{role: \"user\", content: \"## Summary\"}, {role: \"assistant\", content: \"ok\"}], follow_up_messages: [\"unheard\"]}'"
      ),
      [at("b")]: mutate("agent_stop", "second"),
      [at("c")]: bash("agent_stop", "echo '{\"follow_up_messages\":[\"unheard, too\"]}'"),
      [at("d")]: bash("after_turn", "echo '{\"result\":\"mutate\",\"messages\":[]}'")
    }, [{ text: "done" }, { text: "two" }])
    await using _ = agent
    const session = await agent.session()
    assert.strictEqual((await session.run("remember this")).text, "done")
    await session.run("and?")
    assert.deepEqual(requests[1]!.messages.map(text), ["## Summary", "ok", "and?"])
    assert.match(heard.warnings.join("\n"), /b wants to change the history, but an earlier hook did so already/)
  })

  // rows: D-18
  it("call recipes, whose output takes the place of the history", async () => {
    const cwd = folder()
    write(
      join(cwd, at("compact")),
      bash(
        "after_turn",
        `if [ "$(jq .tools_used <<< "$payload")" = true ]; then echo '{"result":"callback","callback":"handoff","callback_args":{"reader":"night shift"}}'; fi`
      )
    )
    write(
      join(cwd, at("stop")),
      python("agent_stop", `print(json.dumps({"result": "callback", "callback": "nobody-knows"}))`)
    )
    const { tools } = recording()
    const { provider, requests } = scripted([
      calls(["bash", { command: "ls" }]),
      { text: "notes for the night shift" },
      { text: "done" }
    ])
    const warnings: Array<string> = []
    const hook = Kodelet.make({
      handlers: Kodelet.find(Kodelet.folders({ cwd, home: folder() })).handlers,
      projectDir: cwd,
      recipes: { handoff: "Write a handoff for {{.reader}}." }
    })
    await using agent = createAgent({ provider, tools, cwd, hooks: [hook] })
    agent.on((event) => void (event.type === "warning" && warnings.push(event.message)))
    assert.strictEqual((await agent.run("go")).text, "done")
    assert.include(requests[1]!.instructions, "Write a handoff for night shift.")
    assert.deepEqual(requests[2]!.messages.map(text), ["notes for the night shift"])
    assert.match(warnings.join("\n"), /"nobody-knows" does not exist/)
  })

  // rows: D-01, D-02
  it("stand in for the user's of the same name, unless those guard", async () => {
    const log = (type: string, word: string) => bash(type, `echo ${word} >> order.log`)
    const { read } = await judge("kodelet", {
      [at("audit")]: log("after_tool_call", "project"),
      "~/.kodelet/hooks/audit": log("after_tool_call", "user"),
      "~/.kodelet/hooks/other": log("after_tool_call", "other"),
      [at("guard")]: log("before_tool_call", "open"),
      "~/.kodelet/hooks/guard": bash(
        "before_tool_call",
        "grep -q sudo <<< \"$payload\" && echo '{\"blocked\":true,\"reason\":\"the user says no\"}'; exit 0"
      )
    }, [[...sh("sudo ls"), /the user says no/], [...sh("ls"), "runs"]])
    assert.strictEqual(read("order.log"), "open\nproject\nother\n")
  })

  // rows: D-22, D-30
  it(
    "are ended when they are too slow, and are not asked when a turn goes without",
    async () => {
      const word = "3622.5"
      const cwd = folder()
      mkdirSync(join(cwd, ".kodelet"))
      write(join(cwd, at("slow")), bash("before_tool_call", `sleep ${word}; echo '{"blocked":true,"reason":"late"}'`))
      write(join(cwd, at("no")), bash("before_tool_call", "echo '{\"blocked\":true,\"reason\":\"no\"}'"))
      const hook = (names: ReadonlyArray<string>) =>
        Kodelet.make({
          handlers: Kodelet.find([{ path: join(cwd, ".kodelet/hooks"), ofProject: true }]).handlers.filter(({ key }) =>
            names.includes(key)
          ),
          projectDir: cwd,
          ...(names.includes("slow") ? { timeoutMs: 200 } : {}),
          runners: Runners.make({ run: (request) => Command.run({ ...request, graceMs: 50 }) })
        })
      const run = async (names: ReadonlyArray<string>, metadata?: { readonly hooks: "none" }) => {
        const { ran, tools } = recording()
        await using agent = createAgent({
          provider: scripted([calls(["bash", { command: "ls" }])]).provider,
          tools,
          cwd,
          hooks: [hook(names)]
        })
        const { messages } = await agent.run(metadata === undefined ? "go" : { message: "go", metadata })
        return [ran.length, said(messages)[0]]
      }
      assert.deepEqual(await run(["slow"]), [1, "done"])
      assert.deepEqual(alive(word), [])
      assert.deepEqual(await run(["no"], { hooks: "none" }), [1, "done"])
      assert.match(String((await run(["no"]))[1]), /no/)
    }
  )
})
