/** Packages that stored code imports. */
import { createAgent } from "@belay/core/createAgent"
import { defineTool } from "@belay/core/defineTool"
import * as Inkeep from "@belay/hook-files/Inkeep"
import * as Sandbox from "@belay/hook-files/Sandbox"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { calls, scripted } from "../../../../../test/support/agent.ts"
import { said } from "./support.ts"

const allowed: Inkeep.Packages = {
  "to-title": {
    version: "1.2.0",
    code: `import { first } from "letters"\nexport default (text) => first(text).toUpperCase() + text.slice(1)`
  },
  letters: { version: "3.0.1", code: `export const first = (text) => text[0]` },
  unused: { version: "1.0.0", code: `export default 1` }
}

const definition: Inkeep.Stored = {
  id: "title",
  dependencies: { "to-title": "1.2.0" },
  executeCode: `import title from "to-title"
    export default async ({ args }) => ({ action: "proceed", args: { ...args, answer: title(args.answer) } })`
}

const attachments = [{ hookDefinitionId: "title", scope: "project", hookPoint: "before-args" }] as const

describe("packages of stored code", () => {
  // rows: E-07, E-10
  it("are taken from the list of allowed ones when the code is saved, and run later without the list", async () => {
    // A database stores it as JSON.
    const saved: Inkeep.Stored = JSON.parse(JSON.stringify(Inkeep.bundle(definition, allowed)))
    assert.deepEqual(Object.keys(saved.bundled ?? {}).sort(), ["letters", "to-title"])
    const { provider } = scripted([calls(["take", { answer: "ada" }]), { text: "done" }])
    const hook = Inkeep.make({ definitions: [saved], attachments })
    const take = defineTool({
      name: "take",
      description: "takes",
      input: { type: "object", additionalProperties: true },
      execute: ({ answer }) => JSON.stringify(answer)
    })
    await using agent = createAgent({ provider, tools: [take], hooks: [hook] })
    const { messages } = await agent.run("go")
    assert.deepEqual(said(messages), ["\"Ada\""])
  })

  it("are refused when the code is saved, if they or their version are not allowed", () => {
    const bundling = (dependencies: { readonly [name: string]: string }) => () =>
      Inkeep.bundle({ ...definition, dependencies }, allowed)
    assert.throws(bundling({ "to-titel": "1.2.0" }), /needs the package to-titel, which is not allowed; did you mean/)
    assert.throws(bundling({ "to-title": "1.3.0" }), /needs to-title 1\.3\.0, and 1\.2\.0 is allowed/)
    assert.throws(
      () => Inkeep.bundle(definition, { "to-title": allowed["to-title"]! }),
      /to-title imports the package letters, which is not allowed/
    )
    assert.deepEqual(Inkeep.bundle({ ...definition, dependencies: { unused: "*" } }, allowed).bundled, {
      unused: allowed["unused"]!
    })
  })

  it("must be there when the hook is made", () => {
    assert.throws(() => Inkeep.make({ definitions: [definition], attachments }), /title.*needs to-title|needs to-title/)
    const other = { ...definition, bundled: { "to-title": { version: "1.1.0", code: "" } } }
    assert.throws(() => Inkeep.make({ definitions: [other], attachments }), /needs to-title/)
  })

  it.effect("are all that the code can import, and have nothing of the host", () =>
    Effect.gen(function*() {
      const run = (code: string, packages: { readonly [name: string]: string } = {}) =>
        Effect.flip(Sandbox.run({ code, context: {}, packages }))
      for (const name of ["node:fs", "fs", "./other.js", "https://example.com/x.js", "constructor"]) {
        const { message, reason } = yield* run(`import x from "${name}"; export default () => x`)
        assert.strictEqual(reason, "code", name)
        assert.include(message, `the package ${name} is not there`)
      }
      const { message } = yield* run(`import x from "a"; export default () => x()`, {
        a: "export default () => process.env.HOME"
      })
      assert.match(message, /process.* is not defined/)
      const { message: long } = yield* run("export default () => 1", { a: " ".repeat(1_048_577) })
      assert.include(long, "its packages are longer than 1,048,576 characters")
    }))
})
