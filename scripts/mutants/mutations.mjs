// The bugs that can be planted in a source file: each is one small change of its text.
import { parseSync, visitorKeys } from "oxc-parser"

/** Operators, and what a mistaken author may have written instead. */
const swapped = {
  "<": ["<=", ">="],
  "<=": ["<", ">"],
  ">": [">=", "<="],
  ">=": [">", "<"],
  "===": ["!=="],
  "!==": ["==="],
  "==": ["!="],
  "!=": ["=="],
  "+": ["-"],
  "-": ["+"],
  "*": ["/"],
  "/": ["*"],
  "%": ["*"],
  "&&": ["||"],
  "||": ["&&"],
  "+=": ["-="],
  "-=": ["+="],
  "??=": ["="]
}

const swappedMethods = {
  every: "some",
  some: "every",
  find: "findLast",
  findLast: "find",
  findIndex: "findLastIndex",
  indexOf: "lastIndexOf",
  lastIndexOf: "indexOf",
  max: "min",
  min: "max",
  push: "unshift",
  unshift: "push",
  shift: "pop",
  pop: "shift",
  startsWith: "endsWith",
  endsWith: "startsWith",
  floor: "ceil",
  ceil: "floor",
  isSuccess: "isFailure",
  isFailure: "isSuccess"
}

/** Methods of arrays and strings whose result can be replaced by the value that they are called on. */
const dropped = new Set([
  "concat",
  "filter",
  "normalize",
  "reverse",
  "slice",
  "sort",
  "toLowerCase",
  "toReversed",
  "toSorted",
  "toUpperCase",
  "trim",
  "trimEnd",
  "trimStart"
])

/** Functions of Effect that add something to the effect in their first argument. */
const combinators = new Set([
  "andThen",
  "asVoid",
  "catch",
  "catchCause",
  "catchDefect",
  "catchTag",
  "ensuring",
  "forkDetach",
  "ignore",
  "interruptible",
  "onError",
  "onExit",
  "onInterrupt",
  "raceFirst",
  "retry",
  "tap",
  "tapCause",
  "tapError",
  "timeout",
  "timeoutOrElse",
  "uninterruptible",
  "withPermit",
  "withPermits"
])

const isType = (type) => type.startsWith("TS") && !["TSAsExpression", "TSNonNullExpression"].includes(type)

const isLoop = (type) => type === "WhileStatement" || type === "DoWhileStatement" || type === "ForStatement"

/**
 * Returns all bugs that can be planted: places in the text, what stands there afterwards, and the kind of the change.
 */
export const mutationsOf = (file, text) => {
  const { errors, program } = parseSync(file, text)
  if (errors.length > 0) throw new Error(`${file} cannot be parsed: ${errors[0].message}`)
  const found = []
  const add = (kind, start, end, replacement) => {
    if (text.slice(start, end) !== replacement) found.push({ kind, start, end, replacement })
  }
  const visit = (node, parent, key) => {
    if (isType(node.type) || node.type === "ImportDeclaration" || node.declare === true) return
    changesOf(node, parent, key, text, add)
    for (const name of visitorKeys[node.type] ?? []) {
      const child = node[name]
      for (const one of Array.isArray(child) ? child : [child]) {
        if (one !== null && typeof one === "object") visit(one, node, name)
      }
    }
  }
  visit(program, undefined, "")
  const unique = new Map(found.map((one) => [`${one.start} ${one.end} ${one.replacement}`, one]))
  return [...unique.values()].map((one) => ({ ...one, file, ...placeOf(text, one) }))
}

const changesOf = (node, parent, key, text, add) => {
  const source = ({ end, start }) => text.slice(start, end)
  const replace = (kind, replacement) => add(kind, node.start, node.end, replacement)
  if (key === "test") {
    replace("condition", `!(${source(node)})`)
    replace("condition", "(false as boolean)")
    if (!isLoop(parent.type)) replace("condition", "(true as boolean)")
  }
  switch (node.type) {
    case "BinaryExpression":
    case "LogicalExpression":
    case "AssignmentExpression":
      return operatorChanges(node, text, add)
    case "UnaryExpression":
      return node.operator === "!" || node.operator === "-" ? replace("negation", source(node.argument)) : undefined
    case "UpdateExpression":
      return replace("step", source(node).replace(/\+\+|--/, (operator) => operator === "++" ? "--" : "++"))
    case "Literal":
      return literalChanges(node, parent, key, replace)
    case "ExpressionStatement":
      return typeof node.directive === "string" ? undefined : replace("statement", "{}")
    case "ContinueStatement":
    case "BreakStatement":
      return parent.type === "SwitchCase" ? undefined : replace("statement", "{}")
    case "ReturnStatement":
      return node.argument === null ? replace("return", "{}") : undefined
    case "CallExpression":
      return callChanges(node, text, replace, add)
    case "Property":
      return parent.type === "ObjectExpression" ? removeFromList(node, parent.properties, "property", add) : undefined
    case "SpreadElement":
      return removeFromList(node, parent.properties ?? parent.elements ?? parent.arguments, "spread", add)
    default:
      return undefined
  }
}

const operatorChanges = (node, text, add) => {
  const { left, operator, right } = node
  const at = left.end + text.slice(left.end, right.start).indexOf(operator)
  for (const other of swapped[operator] ?? []) {
    // A plus between texts joins them.
    if (operator === "+" && [left, right].some(isText)) continue
    add("operator", at, at + operator.length, other)
  }
  if (operator === "??" || operator === "&&" || operator === "||") {
    add("operand", node.start, node.end, text.slice(left.start, left.end))
    add("operand", node.start, node.end, text.slice(right.start, right.end))
  }
}

const isText = ({ type, value }) => type === "TemplateLiteral" || typeof value === "string"

const literalChanges = ({ value }, parent, key, replace) => {
  if (key === "key" || key === "source" || parent.type === "ImportExpression") return
  if (typeof value === "boolean") replace("boolean", String(!value))
  if (typeof value === "number") replace("number", value === 0 ? "1" : value === 1 ? "2" : String(value - 1))
  // The wording of messages may change.
  if (typeof value === "string" && !value.includes(" ")) replace("string", value === "" ? `"?"` : `""`)
}

const callChanges = ({ arguments: given, callee }, text, replace, add) => {
  if (callee.type !== "MemberExpression" || callee.computed) return
  const { object, property } = callee
  const first = given[0]
  if (object.type === "Identifier" && object.name === "Effect" && combinators.has(property.name)) {
    if (first !== undefined && given.length > 0) replace("combinator", text.slice(first.start, first.end))
    return
  }
  const other = swappedMethods[property.name]
  if (other !== undefined) add("method", property.start, property.end, other)
  if (dropped.has(property.name)) replace("method", text.slice(object.start, object.end))
  if (property.name === "slice" && given.length === 2) {
    replace("method", `${text.slice(callee.start, callee.end)}(${text.slice(first.start, first.end)})`)
  }
}

/** Removes an item together with the comma that follows it, or with the one before it. */
const removeFromList = (node, list, kind, add) => {
  const at = list.indexOf(node)
  const next = list[at + 1]
  const before = list[at - 1]
  if (next !== undefined) add(kind, node.start, next.start, "")
  else add(kind, before?.end ?? node.start, node.end, "")
}

/** The line of a change, and this line before and after it. A change of several lines is shown in one. */
const placeOf = (text, { end, replacement, start }) => {
  const from = text.lastIndexOf("\n", start - 1) + 1
  const next = text.indexOf("\n", end)
  const to = next === -1 ? text.length : next
  const shown = (value) => value.replaceAll(/\s+/g, " ").trim()
  return {
    line: text.slice(0, start).split("\n").length,
    before: shown(text.slice(from, to)),
    after: shown(text.slice(from, start) + replacement + text.slice(end, to))
  }
}

/** Returns the text with the bug in it. */
export const planted = (text, { end, replacement, start }) => text.slice(0, start) + replacement + text.slice(end)
