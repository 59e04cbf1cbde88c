import { agentTool } from "@belay/core/agentTool"
import { createAgent } from "@belay/core/createAgent"
import { text } from "@belay/core/Message"
import * as SessionStore from "@belay/core/SessionStore"
import * as Approval from "@belay/hooks/Approval"
import * as Scripted from "@belay/testing/Scripted"
import { assert, describe, it } from "@effect/vitest"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import {
  loadAt,
  loadCall,
  newPlace,
  notingTools,
  projectSkill,
  put,
  resultsOf,
  run,
  trustAll,
  userSkill
} from "../support/skills.ts"

const git: readonly ["Bash", { command: string }] = ["Bash", { command: "git status" }]
const curl: readonly ["Bash", { command: string }] = ["Bash", { command: "curl http://127.0.0.1" }]

describe("Skills", () => {
  it("shows the catalogue in the instructions, loads a skill, and reads its files", async () => {
    const place = newPlace()
    const folder = userSkill(place, "release", { description: "Makes a release", "allowed-tools": "Read Bash(git *)" })
    put(join(folder, "references", "steps.md"), "one\ntwo\n")
    const { tools } = loadAt(place)
    const { ran, requests, results } = await run(place, tools, [[
      [loadCall("release")],
      [["read_skill_resource", { skill: "release", path: "references/steps.md" }]],
      [git, ["Read", { file_path: "a.txt" }]]
    ]], { instructions: "Be brief." })
    const [{ instructions } = { instructions: "" }] = requests
    assert.match(instructions!, /^Be brief\.\n\n[\s\S]*load_skill[\s\S]*\n- release: Makes a release$/)
    assert.isTrue(requests.every((request) => request.instructions === instructions))
    const loaded = JSON.parse(results[0]!)
    assert.deepEqual(loaded, {
      skill: "release",
      folder,
      instructions: "Do it.",
      allowedTools: ["Read", "Bash(git *)"],
      resources: ["references/steps.md"]
    })
    assert.strictEqual(results[1], "one\ntwo\n")
    assert.lengthOf(ran, 2)
  })

  it("lets nothing run that a skill in use does not declare, and says why", async () => {
    const place = newPlace()
    userSkill(place, "release", { "allowed-tools": "Read, Bash(git:*)" })
    const { tools } = loadAt(place)
    const calls = [git, curl, ["Write", { file_path: "a", content: "b" }], ["deploy", {}]] as const
    const { ran, results } = await run(place, tools, [[calls, [loadCall("release")], calls], [calls]])
    // Before it was loaded, and in the next turn, all four run.
    assert.lengthOf(ran, 4 + 1 + 4)
    assert.match(
      results[6]!,
      /Bash does not run: the skill release is in use, and its allowed-tools do not cover this call\. It declares Read, Bash\(git:\*\)/
    )
    assert.match(results[8]!, /^deploy does not run/)
  })

  it("takes the texts of a skill out of what the model reads when its turn has ended", async () => {
    const place = newPlace()
    userSkill(place, "release", {}, "SECRET ORDERS")
    const turns = [[[loadCall("release")]], [[git]]]
    const { requests } = await run(place, loadAt(place).tools, turns)
    const reads = requests.map(({ messages }) => JSON.stringify(messages).includes("SECRET ORDERS"))
    assert.deepEqual(reads, [false, true, false, false])
    assert.match(text(requests[2]!.messages[2]!), /no longer shown.*Call load_skill again/)
    assert.deepEqual(requests[2]!.messages.slice(0, 4), requests[3]!.messages.slice(0, 4))
    const kept = await run(place, loadAt(place, { until: "conversation" }).tools, turns)
    assert.isTrue(JSON.stringify(kept.requests[3]!.messages).includes("SECRET ORDERS"))
  })

  it("keeps a skill in use as long as the conversation, if the host wants it", async () => {
    const place = newPlace()
    userSkill(place, "reader", { "allowed-tools": "Read" })
    const { tools } = loadAt(place, { until: "conversation" })
    const { ran } = await run(place, tools, [[[loadCall("reader")]], [[git]]])
    assert.deepEqual(ran, [])
  })

  it("allows only what every skill in use declares", async () => {
    const place = newPlace()
    userSkill(place, "one", { "allowed-tools": "Read Bash(git *)" })
    userSkill(place, "two", { "allowed-tools": "Bash(git *) Bash(curl *)" }, "Now load the skill one.")
    const { ran } = await run(place, loadAt(place).tools, [[
      [loadCall("two")],
      [loadCall("one")],
      [git, curl, ["Read", { file_path: "a" }]]
    ]])
    assert.deepEqual(ran, [`Bash {"command":"git status"}`])
  })

  it("holds for sub-agents, whoever of them loaded the skill", async () => {
    const place = newPlace()
    userSkill(place, "reader", { "allowed-tools": "Read research" })
    const { tools } = loadAt(place)
    const ran: Array<string> = []
    const child = Scripted.make([Scripted.toolCalls({ name: "Bash", args: git[1] }), "no"])
    await using researcher = createAgent({ name: "researcher", provider: child, tools: notingTools(ran), log: false })
    const provider = Scripted.make([
      Scripted.toolCalls({ name: "load_skill", args: { name: "reader" } }),
      Scripted.toolCalls({ name: "research", args: { message: "do it" } }),
      "done"
    ])
    const research = agentTool({ name: "research", description: "Looks", agent: researcher })
    await using lead = createAgent({ provider, tools: [...tools, research], cwd: place.cwd, log: false })
    await lead.run("go")
    assert.deepEqual(ran, [])
    assert.match(text(child.requests[1]!.messages.at(-1)!), /the skill reader is in use/)

    // The sub-agent loads it, and the lead agent reads its answer.
    const child2 = Scripted.make([Scripted.toolCalls({ name: "load_skill", args: { name: "reader" } }), "run git"])
    await using loader = createAgent({ name: "loader", provider: child2, tools, log: false })
    const provider2 = Scripted.make([
      Scripted.toolCalls({ name: "research", args: { message: "do it" } }),
      Scripted.toolCalls({ name: "Bash", args: git[1] }),
      "done"
    ])
    await using lead2 = createAgent({
      provider: provider2,
      tools: [...notingTools(ran), ...tools, agentTool({ name: "research", description: "Looks", agent: loader })],
      cwd: place.cwd,
      log: false
    })
    await lead2.run("go")
    assert.deepEqual(ran, [])
  })

  it("still holds after a resume in another process, even without the files of the skill", async () => {
    const place = newPlace()
    userSkill(place, "reader", { "allowed-tools": "Read deploy" })
    const other = newPlace()
    userSkill(other, "another")
    const ran: Array<string> = []
    const make = (skills: ReturnType<typeof loadAt>, provider: Scripted.Scripted) =>
      createAgent({
        provider,
        cwd: place.cwd,
        log: false,
        tools: [...notingTools(ran), ...skills.tools],
        hooks: [Approval.make({ tools: ["deploy"] })]
      })
    await using first = make(
      loadAt(place),
      Scripted.make([
        Scripted.toolCalls({ name: "load_skill", args: { name: "reader" } }),
        Scripted.toolCalls({ name: "deploy", args: {} })
      ])
    )
    const asked = await first.run("go")
    assert.strictEqual(asked.status, "suspended")
    if (asked.status !== "suspended") return
    const snapshot = JSON.parse(JSON.stringify(asked.snapshot))
    await using second = make(loadAt(other), Scripted.make([Scripted.toolCalls({ name: "Bash", args: git[1] }), "end"]))
    const { messages } = await second.resume(snapshot, { [asked.pending[0]!.callId]: { type: "approve" } })
    assert.deepEqual(ran, ["deploy {}"])
    assert.match(resultsOf(messages).at(-1)!, /the skill reader is in use/)
  })

  it("is kept by a session store between turns that another process runs", async () => {
    const place = newPlace()
    userSkill(place, "reader", { "allowed-tools": "Read" })
    const store = SessionStore.inMemory()
    const ran: Array<string> = []
    const turn = async (script: ReadonlyArray<Scripted.Entry>) => {
      await using agent = createAgent({
        provider: Scripted.make(script),
        cwd: place.cwd,
        log: false,
        store,
        tools: [...notingTools(ran), ...loadAt(place, { until: "conversation" }).tools]
      })
      return (await agent.session({ id: "s" })).run("go")
    }
    await turn([Scripted.toolCalls({ name: "load_skill", args: { name: "reader" } }), "ok"])
    await turn([Scripted.toolCalls({ name: "Bash", args: git[1] }), "ok"])
    assert.deepEqual(ran, [])
  })

  it("does not restrict anything for a skill that could not be loaded", async () => {
    const place = newPlace()
    userSkill(place, "reader", { "allowed-tools": "Read" })
    const { tools } = loadAt(place)
    const { ran, results } = await run(place, tools, [[[loadCall("raeder")], [git]]])
    assert.match(results[0]!, /there is no skill "raeder": did you mean reader\?/)
    assert.lengthOf(ran, 1)
    const denied = await run(place, tools, [[[loadCall("reader")], [git]]], {
      hooks: [{ name: "no", tools: "load_skill", preToolCall: () => ({ _tag: "Reject", reason: "not now" }) }]
    })
    assert.lengthOf(denied.ran, 1)
  })

  it("uses skills of a project only after a person has trusted them", async () => {
    const place = newPlace()
    projectSkill(place, "deploy-it", { "allowed-tools": "deploy" })
    const before = loadAt(place)
    assert.deepEqual(before.tools, [])
    assert.deepEqual(before.untrusted.map(({ skill }) => skill.name), ["deploy-it"])
    const { tools } = trustAll(place)
    const { ran } = await run(place, tools, [[[loadCall("deploy-it")], [["deploy", {}]]]])
    assert.lengthOf(ran, 1)
  })

  it("finds skills where other tools keep them, and those of enabled plugins", () => {
    const place = newPlace()
    for (const folder of [".codex/skills", ".copilot/skills", ".config/opencode/skills", ".gemini/skills"]) {
      put(join(place.home, folder, folder.split(/[./]/).at(1)!, "SKILL.md"), `---\ndescription: x\n---\n`)
    }
    for (const folder of [".github/skills", ".cursor/skills", ".agents/skills", ".factory/skills"]) {
      put(join(place.cwd, folder, `p-${folder.split(/[./]/).at(1)}`, "SKILL.md"), `---\ndescription: x\n---\n`)
    }
    const plugin = join(place.home, ".claude", "plugins", "cache", "team", "tools", "1.0.0")
    put(join(plugin, "skills", "tidy", "SKILL.md"), `---\nname: tidy\ndescription: x\n---\n`)
    put(
      join(place.home, ".claude", "settings.json"),
      JSON.stringify({ enabledPlugins: { "tools@team": true } })
    )
    mkdirSync(join(place.home, "more", "extra"), { recursive: true })
    put(join(place.home, "more", "extra", "SKILL.md"), `---\ndescription: x\n---\n`)
    const { skills, untrusted } = loadAt(place, { folders: [join(place.home, "more")] })
    assert.deepEqual(skills.map(({ name }) => name), ["codex", "config", "copilot", "extra", "gemini", "tools:tidy"])
    assert.deepEqual(untrusted.map(({ skill }) => skill.name), ["p-agents", "p-cursor", "p-factory", "p-github"])
    assert.deepEqual(loadAt(place, { systems: ["codex"] }).skills.map(({ name }) => name), ["codex"])
  })
})
