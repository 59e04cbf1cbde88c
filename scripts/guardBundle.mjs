// Bundles the command `belay guard run` into one file. It runs for every tool call of an agent, so it has to start
// fast: modules are evaluated when they are used first, and V8 compiles only what runs.
import { hash } from "node:crypto"
import { readFileSync, writeFileSync } from "node:fs"
import { builtinModules } from "node:module"
import { resolve } from "node:path"
import { rolldown } from "rolldown"
import { parseAst } from "rolldown/parseAst"

/** Modules of Node that load many others, and what takes their place. */
const quick = { "node:crypto": "quickCrypto", "node:net": "quickNet" }

/** Modules that the command does not need, and what takes their place. */
const unused = {
  // The inbox of a store and what erases people are for hosts.
  "packages/providers/src/store/internal/sqlite/inbox.ts": "export const inboxOf = () => undefined",
  "packages/providers/src/store/internal/sqlite/erase.ts": "export const erasureOf = () => undefined",
  // The conversions of schemas are large. The command refuses schemas that need them.
  "packages/core/src/guard/internal/schema/jsonSchema.ts":
    `export const documentOf = () => { throw new Error("put a JSON Schema into inputSchema") }
    export const schemaOf = documentOf`
}

const withoutUnused = () => {
  const code = new Map(Object.entries(unused).map(([file, instead]) => [resolve(file), instead]))
  return { name: "without-unused", load: (id) => code.get(id) }
}

/** Loads a module of Node when code that uses it is evaluated, and not at the start. */
const lazyBuiltins = () => ({
  name: "lazy-builtins",
  resolveId: (id) => {
    if (Object.hasOwn(quick, id)) return resolve(`packages/cli/src/internal/guard/run/quick/${quick[id]}.ts`)
    return id.startsWith("node:") && builtinModules.includes(id.slice(5)) ? `\0${id}` : undefined
  },
  load: (id) => {
    if (!id.startsWith("\0node:")) return undefined
    const name = id.slice(1)
    const names = Object.keys(process.getBuiltinModule(name)).filter((key) => /^[A-Za-z_$][\w$]*$/.test(key))
    return {
      code: `const builtin = process.getBuiltinModule(${JSON.stringify(name)})\n${
        names.filter((key) => key !== "default").map((key) => `export const ${key} = builtin.${key}`).join("\n")
      }\nexport default builtin`,
      moduleSideEffects: false
    }
  }
})

/**
 * The globals `performance` and `crypto` load large modules of Node when they are used first. Each call needs the time,
 * and one number that is not secret: where the numbers of its events begin.
 */
const globals = `
const performance = ((now) => ({ now, timeOrigin: Date.now() - now() }))(() => {
  const [seconds, nanoseconds] = process.hrtime()
  return seconds * 1e3 + nanoseconds / 1e6
})
const crypto = {
  getRandomValues: (list) => list instanceof Uint32Array && list.length === 1
    ? list.fill(Math.random() * 2 ** 32)
    : globalThis.crypto.getRandomValues(list),
  randomUUID: () => globalThis.crypto.randomUUID(),
  get subtle() {
    return globalThis.crypto.subtle
  }
}`

/** V8 compiles functions in parentheses at once. Without them, it waits until they are called. */
const withoutEagerness = (code) => {
  const parens = []
  const visit = (node) => {
    if (node === null || typeof node !== "object") return
    if (Array.isArray(node)) return node.forEach(visit)
    if (
      node.type === "CallExpression" && node.arguments[0]?.type === "ArrowFunctionExpression" &&
      code[node.arguments[0].start - 1] === "(" && code[node.arguments[0].start - 2] === "("
    ) parens.push(node.arguments[0].start - 1, node.arguments[0].end)
    for (const [key, child] of Object.entries(node)) if (key !== "parent") visit(child)
  }
  visit(parseAst(code))
  let [text, at] = ["", 0]
  for (const paren of parens.sort((a, b) => a - b)) {
    text += code.slice(at, paren)
    at = paren + 1
  }
  return text + code.slice(at)
}

/** Node reads a file of ASCII letters faster. */
const inAscii = (code) =>
  code.replaceAll(/[\u0080-\uffff]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`)

/** Writes the bundle of the command to a file. Its first line identifies its content. */
export const guardBundle = async (file, input = "packages/cli/src/internal/guard/run/command.ts") => {
  const build = await rolldown({
    input,
    platform: "node",
    logLevel: "silent",
    resolve: { conditionNames: ["@belay/source", "import", "default"] },
    plugins: [withoutUnused(), lazyBuiltins()],
    treeshake: { moduleSideEffects: false, propertyReadSideEffects: false }
  })
  await build.write({
    file,
    format: "cjs",
    minify: process.env.BELAY_READABLE === undefined,
    codeSplitting: false,
    strictExecutionOrder: true,
    banner: globals,
    comments: { annotation: false, legal: true, jsdoc: false }
  })
  await build.close()
  // A function, so that whoever starts it need not make another text of it.
  const code = `(function(exports,require,module){${inAscii(withoutEagerness(readFileSync(file, "utf8")))}\n})`
  writeFileSync(file, `//${hash("sha256", code).slice(0, 16)}\n${code}`)
}
