/** Pages that list what the code has: the events, and the errors by their texts. */
import { defineHook } from "@belay/core/AgentHook"
import { type Agent, createAgent } from "@belay/core/createAgent"
import { defineTool } from "@belay/core/defineTool"
import { messageOf } from "@belay/core/ErrorMessage"
import * as HookAction from "@belay/core/HookAction"
import { text } from "@belay/core/Message"
import * as OpenAiCompatible from "@belay/providers/OpenAiCompatible"
import * as Scripted from "@belay/testing/Scripted"
import * as Schema from "effect/Schema"
import { globSync, readFileSync } from "node:fs"
import { assert, describe, it } from "vitest"
import { optionsPage } from "../scripts/site/options.ts"
import { modulesOf } from "../scripts/site/reference.ts"

const read = (path: string): string => readFileSync(path, "utf8")

describe("the page of events", () => {
  it("has a row for every event, in the order of the type", () => {
    const source = read("packages/core/src/data/AgentEvent.ts")
    const types = [...source.matchAll(/readonly type: "([\w-]+)"/g)].map(([, type]) => type)
    const all = read("docs/events.md").split("## All events")[1]!
    const rows = [...all.matchAll(/^\| `([\w-]+)` \|/gm)].map(([, type]) => type)
    assert.deepEqual(rows, types)
  })
})

describe("the page of troubleshooting", () => {
  /** The texts of the first column; `…` stands for anything. */
  const texts = [...read("docs/troubleshooting.md").matchAll(/^\| (`.*?`) \|/gm)].map(([, cell]) => cell!.slice(1, -1))
  const explains = (message: string): boolean =>
    texts.some((text) =>
      text.split("…").filter((part) => part.trim().length > 3).every((part) => message.includes(part.trim()))
    )

  const add = defineTool({
    name: "add",
    description: "Adds",
    input: Schema.Struct({ a: Schema.Finite }),
    execute: ({ a }) => a
  })
  const lines: Array<string> = []
  const agentWith = (options: object): Agent =>
    createAgent({
      provider: Scripted.make(["hello", "hello", "hello"]),
      log: ({ message }) => lines.push(message),
      ...options
    })
  const failures: { readonly [name: string]: () => unknown } = {
    "a model that is not named": () =>
      agentWith({ provider: OpenAiCompatible.make({ baseUrl: "http://127.0.0.1:9" }) }).run("hi"),
    "a server that is not there": () =>
      agentWith({ provider: OpenAiCompatible.make({ baseUrl: "http://127.0.0.1:9", model: "m" }) }).run("hi"),
    "a misspelt option": () => agentWith({ hookz: [] }),
    "a misspelt point": () => agentWith({ hooks: [{ name: "a", preToolcall: () => undefined }] }),
    "two hooks with one name": () => agentWith({ hooks: [{ name: "a" }, { name: "a" }] }),
    "two tools with one name": () => agentWith({ tools: [add, add] }),
    "a tool with a wrong name": () => agentWith({ tools: [{ ...add, name: "a b" }] }),
    "a rejected message": () => agentWith({ hooks: [{ name: "a", preTurn: () => HookAction.reject("no") }] }).run("hi"),
    "a broken policy": () =>
      agentWith({ hooks: [{ name: "a", kind: "policy", preTurn: () => Promise.reject(new Error("oops")) }] }).run("hi"),
    "an answer that does not fit": () =>
      agentWith({ output: { schema: Schema.Struct({ a: Schema.Finite }) } }).run("hi"),
    "an agent that is closed": async () => {
      const agent = agentWith({})
      await agent.close()
      return agent.run("hi")
    }
  }
  for (const [name, fail] of Object.entries(failures)) {
    it(`explains the error of ${name}`, async () => {
      const error: unknown = await Promise.resolve().then(fail).then(() => undefined, (error: unknown) => error)
      assert.isDefined(error)
      assert.isTrue(explains(messageOf(error)), messageOf(error))
    })
  }

  it("explains the log lines of hooks that fail", async () => {
    lines.length = 0
    const hooks = [
      defineHook({ name: "slow", timeout: 10, preTurn: () => new Promise<undefined>(() => {}) }),
      defineHook({
        name: "lonely",
        preTurn: (_event, ctx) => ctx.promise(ctx.http({ url: "https://a.example" })).then(() => undefined)
      }),
      // The action is not legal at this point, as in a program without types.
      defineHook({ name: "illegal", postStep: (() => HookAction.reject("no")) as never })
    ]
    await agentWith({ hooks }).run("hi")
    assert.strictEqual(lines.length, 3)
    for (const line of lines) assert.isTrue(explains(line), line)
  })

  it("explains what the model reads about a tool that does not exist", async () => {
    const provider = Scripted.make([Scripted.toolCalls({ name: "ad", args: {} }), "sorry"])
    const { messages } = await agentWith({ provider, tools: [add] }).run("hi")
    const answer = text(messages.find(({ role }) => role === "tool")!)
    assert.isTrue(explains(answer), answer)
  })
})

describe("the pages for people who come from another SDK", () => {
  it.each(["ai-sdk", "langchain", "openai-agents", "strands"])("show the programs that the tests run: %s", (name) => {
    const page = read(`docs/from-${name}.md`)
    for (const program of [name, "belay"]) {
      assert.include(page, `\n${read(`test/peers/${program}.ts`).trimEnd()}\n\`\`\``)
    }
  })
})

describe("the pages about the guard of other agents", () => {
  it.each(["strands", "mastra"])("show the programs that the tests run: %s", (name) => {
    assert.include(read(`docs/guard-${name}.md`), `\n${read(`test/peers/example-${name}.ts`).trimEnd()}\n\`\`\``)
  })
})

describe("the catalogue", () => {
  it("has a page with the options that the types have", () => {
    const page = optionsPage()
    const heads = [...page.matchAll(/^## (\w+)$/gm)].map(([, name]) => name)
    assert.isAbove(heads.length, 35)
    const [, limits = ""] = /^## ToolCallLimit$([\s\S]*?)^## /m.exec(page) ?? []
    assert.match(limits, /^- `\w+`: `[^`]+`/m)
    assert.include(page, "See [Secrets](guardrails.md#secrets).")
  })

  it("has a section with an example for every ready-made hook", () => {
    const sections = new Map(
      globSync("docs/catalogue/*.md").flatMap((path) =>
        read(path).split(/^## /m).slice(1).map((part) => [part.split("\n", 1)[0]!.replaceAll("`", ""), part] as const)
      )
    )
    const hooks = modulesOf("hooks").filter(({ entries }) =>
      entries.some((entry) => entry.name === "make" && entry.signatures[0]!.includes("): AgentHook"))
    )
    assert.include(read("README.md"), `[${hooks.length} ready-made hooks]`)
    const missing = hooks.filter(({ name }) => sections.get(name)?.includes("```ts") !== true)
    assert.deepEqual(missing.map(({ name }) => name), [])
  })

  it("has an example for every point", () => {
    const sections = read("docs/hooks.md").split(/^##+ /m).filter((part) => /^`\w+`\n/.test(part))
    assert.deepEqual(sections.filter((part) => !part.includes("```ts")).map((part) => part.split("\n", 1)[0]), [])
    assert.lengthOf(sections, 21)
  })
})
