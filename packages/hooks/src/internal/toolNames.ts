/** Which tools a hook is for, as its options say it. */
import { RE2JS } from "re2js"

/** `*` stands for any characters, `!name` excludes; without a pattern that includes, every tool that is not excluded is meant. */
export const toolNames = (patterns: string | ReadonlyArray<string>): (tool: string) => boolean => {
  const all = typeof patterns === "string" ? [patterns] : patterns
  const excluded = all.filter((pattern) => pattern.startsWith("!")).map((pattern) => glob(pattern.slice(1)))
  const included = all.filter((pattern) => !pattern.startsWith("!")).map(glob)
  const everyOther = included.length === 0 && excluded.length > 0
  return (tool) => (everyOther || included.some((fits) => fits(tool))) && !excluded.some((fits) => fits(tool))
}

const glob = (pattern: string): (tool: string) => boolean => {
  const compiled = RE2JS.compile(pattern.split("*").map((piece) => RE2JS.quote(piece)).join(".*"), RE2JS.DOTALL)
  return (tool) => compiled.testExact(tool)
}
