/** Finds scripts that start processes without end. */
import type { Decomposed } from "../shell/decompose.ts"

const definition = /(?:\bfunction\s+([\w:.]{1,32})\s*(?:\(\s*\))?|([\w:.]{1,32})\s*\(\s*\))\s*[{(]/g

/** Loops that never end and leave each process running in the background. */
const endlessLoop = new RegExp(
  String.raw`\b(?:while|until)\s+(?:true|:|false|\[+\s*(?:1|true|1\s*-eq\s*1)\s*\]+|` +
    String.raw`\(\(\s*1\s*\)\))\s*;?\s*do\b[^;&|\n]*(?:[;|\n][^;&|\n]*)*&\s*done\b|` +
    String.raw`\bfor\s*\(\(\s*;\s*;\s*\)\)\s*;?\s*do\b[^;&\n]*&\s*done\b`
)

/** The parts of a script that start processes without end. */
export const endlessProcesses = (text: string, { commands }: Decomposed): ReadonlyArray<string> => {
  const script = text.slice(0, 4_096)
  const found: Array<string> = []
  for (const { 0: start, 1: first, 2: second, index } of script.matchAll(definition)) {
    const name = first ?? second!
    const body = script.slice(index + start.length)
    const word = name.replaceAll(/[.]/g, "\\.")
    const calls = new RegExp(
      `(?:^|[\\s;&|{(])${word}\\s*(?:\\|\\s*${word}|&(?!&)[\\s\\S]*?(?<=^|[\\s;&|{(])${word}\\s*[&;|}\\s])`
    )
    if (
      calls.test(body.slice(0, body.indexOf("}") + 1 || undefined)) ||
      body.replaceAll(/\s/g, "").startsWith(`${name}|${name}`)
    ) {
      found.push(`${name}(){ ${name}|${name} }`)
    }
  }
  const loop = endlessLoop.exec(script)
  if (loop !== null) found.push(loop[0].slice(0, 120))
  if (/\$0\s*[&|]\s*\$0/.test(script)) found.push("$0 & $0")
  for (const { name, pipe, words } of commands) {
    const isUnlimited = name === "xargs" &&
      words.some(({ text }, index) =>
        /^-\w*P0$|^--max-procs=0$/.test(text) || (text === "0" && /^-\w*P$/.test(words[index - 1]?.text ?? ""))
      )
    if (isUnlimited && pipe?.[0]?.text === "yes") found.push("yes | xargs -P0")
  }
  return found
}
