/** What a chat writes, to the letter, with a model and tools of the test. */
import type { AgentConfig } from "@belay/core/AgentConfig"
import { defineTool } from "@belay/core/defineTool"
import * as HookAction from "@belay/core/HookAction"
import { Auth, Overloaded } from "@belay/core/ProviderError"
import * as Scripted from "@belay/testing/Scripted"
import { existsSync, mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { PassThrough } from "node:stream"
import { assert, describe, it } from "vitest"
import { runChat } from "../../src/internal/chat/run.ts"
import { colored, painted } from "../support/painted.ts"

const tool = (name: string, execute: () => unknown) =>
  defineTool({ name, description: name, input: { type: "object" }, execute: async () => execute() as never })

const tools = [
  tool("look", () => "seen"),
  tool("long", () => ({ text: "x".repeat(200) })),
  tool("fails", () => {
    throw new Error("no disk")
  }),
  tool("asks", () => "done")
]
const asking = { name: "gate", tools: "asks", preToolCall: () => HookAction.ask("really?") }
const refusing = { name: "guard", tools: "look", preToolCall: () => HookAction.reject("not today") }

const newStore = () => join(mkdtempSync(join(tmpdir(), "belay-cli-chat-")), "new", "chat.db")

/** What is written when these lines are typed. */
const chat = async (
  lines: ReadonlyArray<string>,
  replies: Parameters<typeof Scripted.make>[0],
  config: Partial<AgentConfig> = {},
  storePath = newStore()
): Promise<ReadonlyArray<string>> => {
  const [input, output] = [new PassThrough(), new PassThrough()]
  let written = ""
  output.on("data", (data) => written += String(data))
  input.end(lines.map((line) => `${line}\n`).join(""))
  await runChat({
    config: { provider: Scripted.make(replies), tools, hooks: [asking], ...config },
    about: "a model\u001B of the test",
    storePath,
    sessionId: "s1",
    screen: colored,
    terminal: { input, output } as never
  })
  return painted(written, storePath).map((line) =>
    line.replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "ID")
  )
}

const head = (session: string) => [
  "<bold>belay chat</>  <dim>a model\\x1b of the test</>",
  `<dim>session s1: ${session}. /new begins another, /compact shortens the history, /exit or Ctrl-D ends, Ctrl-C stops an answer</>`
]
const calls = (name: string) => Scripted.toolCalls({ name, args: { at: "the sky" } })

describe("a chat", () => {
  it("writes answers and tools line by line, and remembers the conversation", async () => {
    const store = newStore()
    const written = await chat(["  look  ", "", "again"], [calls("look"), "first\nsecond", "third"], {}, store)
    assert.deepEqual(written, [
      ...head("new"),
      "<dim>→ look {\"at\":\"the sky\"}</>",
      "<green>✓</> <dim>seen</>",
      "first",
      "second",
      "",
      "third",
      "",
      ""
    ])
    assert.isTrue(existsSync(store))
    const later = await chat(["/exit", "never"], ["never"], {}, store)
    assert.deepEqual(later, [...head("6 messages so far"), ""])
  })

  it("cuts long values, and shows failures and refusals", async () => {
    const written = await chat(["go"], [calls("long"), calls("fails"), calls("asks"), "end"])
    assert.deepEqual(written, [
      ...head("new"),
      "<dim>→ long {\"at\":\"the sky\"}</>",
      `<green>✓</> <dim>{"text":"${"x".repeat(90)}…</>`,
      "<dim>→ fails {\"at\":\"the sky\"}</>",
      "<red>✗</> no disk",
      "<red>✗</> asks: refused by person",
      "end",
      "",
      ""
    ])
    const refused = await chat(["go"], [calls("look"), "end"], { hooks: [refusing] })
    assert.include(refused, "<red>✗</> look: refused by guard")
  })

  it("begins another session", async () => {
    const written = await chat(["one", "/new", "two"], ["first", "second"])
    assert.deepEqual(written, [...head("new"), "first", "", "<dim>session ID</>", "second", "", ""])
  })

  it("says why a turn ends without an answer", async () => {
    const limited = await chat(["go"], [calls("look"), "end"], { limits: { steps: 1 } })
    assert.include(limited, "<red>limit reached: steps</>")
    const stopping = { name: "stops", postToolCall: () => HookAction.abort("enough\u001B") }
    const stopped = await chat(["go"], [calls("look"), "end"], { hooks: [stopping] })
    assert.include(stopped, "<red>stopped by stops: enough\\x1b</>")
    const failing = new Auth({ provider: "scripted", message: "no luck\u001B" })
    const failed = await chat(["go", "again"], [failing, failing])
    assert.lengthOf(failed.filter((line) => line.startsWith("<red>error  ") && line.includes("no luck\\x1b")), 2)
  })

  it("shows that a model is tried again, and what hooks tell the user", async () => {
    const notifying = {
      name: "tells",
      preTurn: (_: unknown, ctx: { notifyUser: (text: string) => void }) => ctx.notifyUser("mind\u001B")
    } as never
    const provider = Scripted.make([
      new Overloaded({ provider: "scripted", message: "busy", retryAfterMs: 1 }),
      "fine"
    ])
    const written = await chat(["go"], [], { provider, hooks: [notifying] })
    assert.include(written, "<yellow>mind\\x1b</>")
    assert.isTrue(written.some((line) => /^<yellow>\S+ Overloaded: retry<\/>$/.test(line)), written.join("\n"))
    assert.include(written, "fine")
  })
})
