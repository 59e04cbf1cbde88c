// Finds out which parts of a source file a test runs. Every part gets a call that reports it.
import { parseSync, visitorKeys } from "oxc-parser"

/** The name of the reporting function in an instrumented program. */
const report = "globalThis.$belayReached?."

/**
 * Returns the parts of a file, and its text with a report in each of them. A part is a file, a body of a function, a
 * block, or a branch of an expression. `first` is the number of the first part.
 */
export const instrument = (file, text, first) => {
  const { program } = parseSync(file, text)
  const regions = [{ id: first, start: 0, end: text.length }]
  const inserts = [{ at: text.length, text: `\n;${report}(${first})\n` }]
  const begin = ({ end, start }) => {
    const id = first + regions.length
    regions.push({ id, start, end })
    return id
  }
  const block = (node) => inserts.push({ at: node.start + 1, text: ` ${report}(${begin(node)});` })
  const expression = (node) => {
    inserts.push({ at: node.start, text: `(${report}(${begin(node)}), ` }, { at: node.end, text: ")" })
  }
  const visit = (node, parent, key) => {
    if (node.type.startsWith("TS") && node.expression === undefined) return
    // A block of a constructor may begin with the call of the base class, which needs nothing before it.
    if (node.type === "BlockStatement" || node.type === "FunctionBody") block(node)
    else if (parent?.type === "ArrowFunctionExpression" && key === "body") expression(node)
    else if (parent?.type === "ConditionalExpression" && key !== "test") expression(node)
    else if (parent?.type === "LogicalExpression" && key === "right") expression(node)
    for (const name of visitorKeys[node.type] ?? []) {
      const child = node[name]
      for (const one of Array.isArray(child) ? child : [child]) {
        if (one !== null && typeof one === "object") visit(one, node, name)
      }
    }
  }
  visit(program, undefined, "")
  return { regions, text: insertAll(text, inserts) }
}

const insertAll = (text, inserts) => {
  // Of two at the same place, that of the outer part was added first. It begins first and ends last.
  const ordered = inserts
    .map((insert, order) => ({ ...insert, order: insert.text === ")" ? -order : order }))
    .sort((a, b) => a.at - b.at || (a.text === ")" ? 0 : 1) - (b.text === ")" ? 0 : 1) || a.order - b.order)
  let result = ""
  let done = 0
  for (const { at, text: added } of ordered) {
    result += text.slice(done, at) + added
    done = at
  }
  return result + text.slice(done)
}

/** The smallest part that contains a change. */
export const regionOf = (regions, { end, start }) => {
  let best = regions[0]
  for (const region of regions) {
    if (region.start <= start && end <= region.end && region.end - region.start <= best.end - best.start) best = region
  }
  return best
}
