import { assert, describe, it } from "@effect/vitest"
import { execFileSync } from "node:child_process"

/** Prints which of the libraries are loaded after each line of code, in a new process. */
const loadedBy = (...code: ReadonlyArray<string>): ReadonlyArray<string> => {
  const program = `
    import { registerHooks } from "node:module"
    const loaded = new Set()
    registerHooks({
      load: (url, context, next) => {
        loaded.add(/node_modules.*(re2js|minimatch|jmespath)\\//.exec(url)?.[1])
        return next(url, context)
      }
    })
    const print = () => console.log([...loaded].filter((name) => name !== undefined).sort().join(" "))
    ${code.map((line) => `${line}\nprint()`).join("\n")}`
  const args = ["--conditions=@belay/source", "--input-type=module", "--eval", program]
  return execFileSync(process.execPath, args, { encoding: "utf8" }).trimEnd().split("\n").slice(-code.length)
}

describe("the libraries of hooks", () => {
  it("are loaded when a hook is made that needs them", () => {
    const loaded = loadedBy(
      `const { InputGuardrail, Projection } = await import("@belay/hooks")`,
      `InputGuardrail.make({ patterns: ["(?i)password"] })`,
      `Projection.make({ projections: { list: "files[*].name" } })`
    )
    assert.deepEqual(loaded, ["", "re2js", "jmespath re2js"])
  })
})
