// A plugin of the build. It marks the initializers of module variables, and the base classes of classes, as free of
// effects. So a bundler leaves out what a program does not use, although a package is one file.
import { parseAst } from "rolldown/parseAst"

/** Code in functions runs later, if at all. */
const functions = new Set(["ArrowFunctionExpression", "FunctionExpression", "FunctionDeclaration"])
const calls = new Set(["CallExpression", "NewExpression", "TaggedTemplateExpression"])

/** Whether the evaluation of an expression calls something. */
const callsSomething = (node) => {
  if (node === null || typeof node !== "object") return false
  if (Array.isArray(node)) return node.some(callsSomething)
  if (functions.has(node.type)) return false
  return calls.has(node.type) || Object.entries(node).some(([key, child]) => key !== "parent" && callsSomething(child))
}

const initializersOf = (statement) => {
  const declaration = statement.declaration ?? statement
  if (declaration?.type === "VariableDeclaration") {
    return declaration.declarations.flatMap(({ init }) =>
      // A class takes its name from its variable.
      init === null || init.type === "ClassExpression" ? [] : [init]
    )
  }
  return declaration?.type === "ClassDeclaration" && declaration.superClass !== null ? [declaration.superClass] : []
}

export const pureInitializers = () => ({
  name: "pure-initializers",
  transform: (code, id) => {
    const { body } = parseAst(code, { lang: "ts", sourceType: "module" }, id)
    let marked = ""
    let at = 0
    for (const statement of body) {
      for (const { end, start } of initializersOf(statement).filter(callsSomething)) {
        marked += `${code.slice(at, start)}/* @__PURE__ */ (() => (${code.slice(start, end)}))()`
        at = end
      }
    }
    // Nothing moves to another line, so the source map stays right.
    return at === 0 ? undefined : { code: marked + code.slice(at), map: null }
  }
})
