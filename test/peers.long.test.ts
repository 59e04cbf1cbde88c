/** The programs of the pages "Coming from …": each SDK runs the same task against the endpoint on loopback. */
import * as Endpoint from "@belay/testing/Endpoint"
import { execFile } from "node:child_process"
import { resolve } from "node:path"
import { promisify } from "node:util"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { columnsFrom, others, paths, runCell } from "../proof/run.ts"

const execute = promisify(execFile)
let endpoint: Endpoint.Endpoint
beforeAll(async () => {
  endpoint = await Endpoint.start()
})
afterAll(() => endpoint.close())

const run = async (program: string, sides: number): Promise<string> => {
  const args = ["--conditions=@belay/source", `test/peers/${program}.ts`, `Roll a dice with ${sides} sides`]
  const env = { ...process.env, OPENAI_BASE_URL: endpoint.url, OPENAI_API_KEY: "none", OPENAI_MODEL: "demo" }
  return (await execute(process.execPath, args, { env, timeout: 30_000 })).stdout.trim()
}

describe("the programs of other SDKs", () => {
  it.each(["belay", "ai-sdk", "langchain", "openai-agents", "strands"])(
    "%s rolls a dice, and refuses a large one",
    async (program) => {
      assert.strictEqual(await run(program, 6), "Done, in 1 step.\n- roll_dice: 6")
      const refused = await run(program, 1_000)
      // The SDK of OpenAI does not show the model why a tool has failed.
      assert.match(
        refused,
        program === "openai-agents" ? /roll_dice: An error occurred/ : /roll_dice: .*at most 100 sides/
      )
    }
  )

  it.each(["strands", "mastra"])("asks about a large dice, as the page of the guard shows: %s", async (name) => {
    assert.strictEqual(await run(`example-${name}`, 6), "Done, in 1 step.\n- roll_dice: 6")
    assert.strictEqual(
      await run(`example-${name}`, 1_000),
      "approved: a large dice\nDone, in 1 step.\n- roll_dice: 1000"
    )
  })

  it("run inside the guard: Strands, with calls that are denied, changed, asked about, and results that are withheld", async () => {
    const { stdout } = await execute(
      process.execPath,
      ["--conditions=@belay/source", "test/peers/guarded-strands.ts"],
      {
        timeout: 30_000
      }
    )
    const { answer, asked, before, models, ran, read, refused } = JSON.parse(stdout)
    assert.deepStrictEqual({ answer, asked, before, models, ran, refused }, {
      answer: "done",
      asked: ["really?"],
      before: ["ann"],
      models: 0,
      ran: ["ann", "asked"],
      refused: "not here"
    })
    for (const text of ["no mails to eve", "the pin is [pin]", "be careful"]) assert.include(read, text)
    assert.notInclude(read, "4711")
  })

  it("run inside the guard: Mastra, on the paths that its agents have", async () => {
    const args = ["--conditions=@belay/source", "test/peers/guarded-mastra.ts"]
    const { stdout } = await execute(process.execPath, args, { timeout: 60_000 })
    const scenes = JSON.parse(stdout)
    const { asked, askedBelow, calls, declined, ownSuspension, restart, selfApproved, subAgents, unguarded } = scenes
    assert.deepStrictEqual(calls.ran, ["ann hi", "cy hi"])
    for (const text of ["no mails to eve", "[pin]", "be careful"]) assert.include(calls.last, text)
    for (const text of ["4711", "belay-guard"]) assert.notInclude(calls.last, text)
    assert.strictEqual(asked.payload.suspendPayload.reason, "really?")
    // Mastra continues only one call that waits, so the calls of a step run one after the other if a hook can ask.
    assert.deepStrictEqual([asked.before, asked.ran], [[], ["asked hi", "cy hi"]])
    assert.deepStrictEqual([declined.ran, scenes.edited.ran], [[], ["zoe hi"]])
    assert.include(declined.last, "not now")
    assert.deepStrictEqual([restart.ran, restart.stranger], [["asked hi"], []])
    assert.include(restart.told, "no question about send_mail is open")
    assert.deepStrictEqual(selfApproved.ran, [])
    assert.include(selfApproved.last, "a model cannot answer for a person")
    assert.deepStrictEqual(ownSuspension.ran, ["pick red"])
    assert.include(ownSuspension.payload.resumeSchema, "choice")
    assert.deepStrictEqual(scenes.streamed, { shown: ["one ", "two"], safe: ["the pin is [pin]"], ran: ["cy hi"] })
    assert.deepStrictEqual(scenes.refused, { error: "GuardError: not here", asked: 0 })
    assert.deepStrictEqual(scenes.stopped, { ran: [], text: "enough", asked: 1 })
    assert.deepStrictEqual([subAgents.below, subAgents.ran], [["one hi", "two hi", "|"], []])
    assert.include(subAgents.told, "stay here")
    assert.include(subAgents.bare, "agents.forbidden: it is not guarded")
    assert.deepStrictEqual([askedBelow.before, askedBelow.below], [[], ["asked hi"]])
    // A model that the guard does not see, and a toolset that replaces a guarded tool.
    assert.deepStrictEqual([unguarded.own, unguarded.ran], [[], ["extra", "extra"]])
    assert.include(unguarded.last, "no mails to eve")
    const { asked: askedBy, begun, ran, resumed } = scenes.network
    for (const error of [begun, resumed]) assert.match(error, /ConfigError: network: a guarded agent cannot lead/)
    assert.deepStrictEqual([ran, askedBy], [[], 0])
    assert.deepStrictEqual([scenes.hooksFail, scenes.cancelled], [{ throws: [], hangs: [] }, { ran: [] }])
  })

  it("run inside the guard: pi, with its own calls and those of its tools", async () => {
    const args = ["--conditions=@belay/source", "test/peers/guarded-pi.ts"]
    const { stdout } = await execute(process.execPath, args, { timeout: 60_000 })
    const { asked, calls, cancelled, failing, goesOn, messages } = JSON.parse(stdout)
    assert.deepStrictEqual(calls.ran, ["ann", "cy"])
    for (const text of ["be quick", "be careful", "[pin]"]) assert.include(calls.last, text)
    // Of the model's own call, and of the call that its tool has made.
    assert.lengthOf(calls.last.split("\"text\":\"no mails to eve\"").slice(1), 2)
    assert.notInclude(calls.last, "4711")
    assert.deepStrictEqual([asked.yes.ran, asked.no.ran, asked.nobody.ran], [["asked"], [], []])
    assert.deepStrictEqual(asked.yes.shown, ["Run send_mail? really?"])
    assert.include(asked.nobody.last, "nobody is there: really?")
    assert.deepStrictEqual([messages.before, messages.shown], [0, ["not here"]])
    assert.include(messages.last, "[pin]")
    assert.notInclude(messages.last, "4711")
    assert.strictEqual(goesOn.asked, 2)
    assert.deepStrictEqual(failing, {
      throws: { ran: [], asked: 2 },
      hangs: { ran: [], asked: 2 },
      stops: { ran: [], asked: 1 },
      noTurn: { ran: [], asked: 0 }
    })
    assert.deepStrictEqual(cancelled, { ran: [] })
  })

  describe.each(others.filter(({ folder }) => folder === "peers").map((other) => [other.name, other] as const))(
    "on the paths of the proof: %s",
    (_name, other) => {
      it.each(paths.map((path) => [path.name, path] as const))("%s", async (_path, path) => {
        for (const column of await columnsFrom(other)) {
          const [cell, note] = await runCell(path, column)
          // What the SDK alone does is printed, and nobody here can mend it.
          if (!column.own) assert.notStrictEqual(cell, "does not hold", note)
        }
      })
    }
  )

  it("compile", async () => {
    await execute(process.execPath, [resolve("node_modules/typescript/bin/tsc"), "-p", "test/peers"])
  })
})
