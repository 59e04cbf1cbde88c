/** Functions of ports that programs without types write: they return a promise or a value, or throw. */
import { assert, describe, it } from "vitest"
import { type AgentConfig } from "../../src/agent/AgentConfig.ts"
import { createAgent } from "../../src/agent/createAgent.ts"
import { defineHook } from "../../src/hook/AgentHook.ts"
import { inMemory as artifactsInMemory } from "../../src/port/ArtifactStore.ts"
import { inMemory } from "../../src/port/SessionStore.ts"
import { recording } from "../support/agent.ts"
import { asks, scripted } from "../support/model.ts"

// A program without types.
type Wrong = () => never

const wrong: Readonly<Record<string, () => unknown>> = {
  "a promise": () => Promise.resolve({}),
  "a promise that rejects": () => Promise.reject(new Error("boom")),
  nothing: () => undefined,
  "a text": () => "text",
  "an object": () => ({ text: "hi" }),
  "an iterator": function*() {
    yield 1
  }
}

const store = inMemory()
const artifacts = artifactsInMemory()
const writes = defineHook({
  name: "writes",
  *preToolCall(_call, ctx) {
    yield* ctx.artifacts.write("key", "text")
  }
})

/** The ports, with the words by which the error or the warning names the function. */
const ports: ReadonlyArray<readonly [name: string, words: RegExp, config: (wrong: Wrong) => Partial<AgentConfig>]> = [
  ["complete", /provider own returned/, (complete) => ({ provider: { name: "own", complete } })],
  ["stream", /provider own returned/, (stream) => ({
    provider: { name: "own", complete: stream, stream },
    hooks: [{ name: "reads", onLlmDelta: () => undefined }]
  })],
  ["runTurn", /runTurn returned/, (runTurn) => ({ core: { coreType: "own", runTurn } })],
  ["init", /init returned/, (init) => ({ core: { coreType: "own", init, runTurn: init } })],
  ["preTurnContext", /preTurnContext returned/, (preTurnContext) => ({ memory: { preTurnContext } })],
  ["postTurnObserve", /postTurnObserve returned/, (postTurnObserve) => ({ memory: { postTurnObserve } })],
  ["load", /load of the store returned/, (load) => ({ store: { ...store, load } })],
  ["revision", /revision of the store returned/, (revision) => ({ store: { ...store, revision } })],
  ["commit", /commit of the store returned/, (commit) => ({ store: { ...store, commit } })],
  ["write", /artifacts returned/, (write) => ({ artifacts: { ...artifacts, write }, hooks: [writes] })]
]

describe.each(ports)("%s of a port", { concurrent: true }, (_name, words, config) => {
  it.each(Object.entries(wrong))("that returns %s is named, and the session goes on", async (_what, returns) => {
    const said: Array<string> = []
    const agent = createAgent({
      provider: scripted([asks(["act"])], { after: "done" }).provider,
      tools: [recording("act").tool],
      log: ({ message }) => void said.push(message),
      ...config(returns as Wrong)
    })
    for (const _turn of [1, 2]) {
      await agent.session({ id: "one" }).then((session) => session.run("go")).catch(
        (error: Error & { readonly _tag?: string }) => {
          assert.isString(error._tag)
          said.push(error.message)
        }
      )
    }
    assert.match(said.join("\n"), words)
    assert.notMatch(said.join("\n"), /runLoop|not iterable|is not a function|Cannot read/)
    await agent.close()
  })
})

it("a provider that throws fails its call, and the next provider answers", async () => {
  const broken = () => {
    throw new Error("boom")
  }
  const agent = createAgent({
    provider: [{ name: "broken", complete: broken, stream: broken }, scripted(["hello"]).provider],
    log: false
  })
  assert.strictEqual((await agent.run("go")).text, "hello")
  await agent.close()
})
