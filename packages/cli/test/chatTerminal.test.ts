/** `belay chat` as a person uses it: in a terminal, where one program reads the keys. */
import * as Endpoint from "@belay/testing/Endpoint"
import { existsSync, mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "vitest"
import { inTerminal } from "./support/terminal.ts"

const bin = fileURLToPath(new URL("../src/bin/belay.ts", import.meta.url))
const bash = (command: string) => ({ toolCalls: [{ name: "Bash", args: { command } }] })

const open = (url: string, more: ReadonlyArray<string> = []) => {
  const folder = mkdtempSync(join(tmpdir(), "belay-chat-"))
  const command = [process.execPath, "--conditions=@belay/source", bin, "chat", "--base-url", url, ...more]
  const env = { OPENAI_API_KEY: "", OPENAI_BASE_URL: "", OPENAI_MODEL: "", NO_COLOR: "1" }
  return { ...inTerminal(command, env, folder), folder }
}

/** Sends a message, and waits for the question about the first command. */
const upToQuestion = async ({ type, until }: ReturnType<typeof open>): Promise<void> => {
  await until("you> ")
  type("go\r")
  await until("[d]eny")
  await until("> ")
}

/** The messages of the user in the last request. */
const asked = (endpoint: Endpoint.Endpoint): ReadonlyArray<string> =>
  Object(endpoint.requests.at(-1)?.body).messages
    .filter(({ role }: { readonly role: string }) => role === "user")
    .map(({ content }: { readonly content: string }) => content)

const ctrlC = "\u0003"
const ctrlD = "\u0004"

describe("belay chat in a terminal", () => {
  it("gives the keys of an approval to the approval alone", async () => {
    await using endpoint = await Endpoint.start({
      script: [bash("touch ran"), { text: "It ran." }, { text: "Again." }]
    })
    const chat = open(endpoint.url, ["--tools", "all", "--model", "scripted"])
    await upToQuestion(chat)
    chat.type("allow\r")
    await chat.until("It ran.")
    await chat.until("you> ")
    chat.type("more\r")
    await chat.until("Again.")
    await chat.until("you> ")
    chat.type(ctrlD)
    assert.strictEqual(await chat.ended, 0)
    assert.isTrue(existsSync(join(chat.folder, "ran")))
    assert.deepStrictEqual(asked(endpoint), ["go", "more"])
    // Each key is shown once.
    // oxlint-disable-next-line no-control-regex -- the codes with which a terminal is controlled
    const shown = chat.shown().replaceAll(/\u001B\[[0-9;?]*[A-Za-z]/g, "")
    assert.lengthOf(shown.match(/allow/g) ?? [], 1, shown)
  })

  it("takes no answer to a question that was typed before it was shown", async () => {
    const first = bash("touch started; while [ ! -e typed ]; do sleep 0.05; done")
    await using endpoint = await Endpoint.start({ script: [first, bash("touch ran"), { text: "The end." }] })
    const chat = open(endpoint.url, ["--tools", "all", "--model", "scripted"])
    await upToQuestion(chat)
    chat.type("a\r")
    while (!existsSync(join(chat.folder, "started"))) await new Promise((resolve) => setTimeout(resolve, 5))
    chat.type("allow\rallow")
    await chat.until("allow\r\nallow")
    writeFileSync(join(chat.folder, "typed"), "")
    await chat.until("[d]eny")
    await chat.until("> ")
    chat.type("deny\r")
    await chat.until("The end.")
    await chat.until("you> ")
    chat.type(ctrlD)
    assert.strictEqual(await chat.ended, 0)
    assert.isFalse(existsSync(join(chat.folder, "ran")))
  })

  it("stops the answer with Ctrl-C at a question, runs nothing, and continues with the next message", async () => {
    await using endpoint = await Endpoint.start({ script: [bash("touch ran"), { text: "Next." }] })
    const chat = open(endpoint.url, ["--tools", "all", "--model", "scripted"])
    await upToQuestion(chat)
    chat.type(ctrlC)
    await chat.until("stopped")
    await chat.until("you> ")
    chat.type("next\r")
    await chat.until("Next.")
    await chat.until("you> ")
    chat.type(ctrlC)
    assert.strictEqual(await chat.ended, 0)
    assert.isFalse(existsSync(join(chat.folder, "ran")))
  })

  it("ends with Ctrl-D at a question, which is asked again after the next start", async () => {
    await using endpoint = await Endpoint.start({ script: [bash("touch ran"), { text: "It ran." }] })
    const chat = open(endpoint.url, ["--tools", "all", "--model", "scripted"])
    await upToQuestion(chat)
    chat.type(ctrlD)
    assert.strictEqual(await chat.ended, 0)
    const next = open(endpoint.url, [
      "--tools",
      "all",
      "--model",
      "scripted",
      "--store",
      join(chat.folder, ".belay", "chat.db")
    ])
    await next.until("[d]eny")
    await next.until("> ")
    next.type("deny\r")
    await next.until("It ran.")
    await next.until("you> ")
    next.type(ctrlD)
    assert.strictEqual(await next.ended, 0)
    assert.isFalse(existsSync(join(chat.folder, "ran")))
  })

  it("stops an answer that is written with Ctrl-C, and leaves with the next one", async () => {
    await using endpoint = await Endpoint.start({ slowMs: 5_000 })
    const chat = open(endpoint.url, ["--model", "demo:slow"])
    await chat.until("you> ")
    chat.type("tell me a long story\r")
    while (endpoint.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
    chat.type(ctrlC)
    await chat.until("stopped")
    await chat.until("you> ")
    chat.type(ctrlC)
    assert.strictEqual(await chat.ended, 0)
  })

  it("takes pasted lines as one message, and keeps what was typed for the arrow keys", async () => {
    await using endpoint = await Endpoint.start({ script: [{ text: "One." }, { text: "Two." }] })
    const chat = open(endpoint.url, ["--model", "scripted"])
    await chat.until("you> ")
    chat.type("first line\rsecond line\r")
    await chat.until("One.")
    await chat.until("you> ")
    chat.type("\u001B[A\r")
    await chat.until("Two.")
    await chat.until("you> ")
    chat.type("/exit\r")
    assert.strictEqual(await chat.ended, 0)
    assert.deepStrictEqual(asked(endpoint), ["first line\nsecond line", "second line"])
  })
})
