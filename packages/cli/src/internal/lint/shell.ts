/** Splits shell scripts, to find what they read and write. */

/** Line breaks, semicolons, and the words between them. */
export interface Part {
  readonly text: string
  /** The operator before it. */
  readonly after: "start" | "and" | "or"
}

/**
 * Returns the commands of a script, each as parts that are joined by `&&` and `||`. Texts of here-documents are left
 * out except for their first character: `<<X {`.
 */
export const commandsOf = (script: string): ReadonlyArray<ReadonlyArray<Part>> => {
  const commands: Array<Array<Part>> = []
  let parts: Array<Part> = []
  let text = ""
  let after: Part["after"] = "start"
  const part = (next: Part["after"]) => {
    if (text.trim() !== "") parts.push({ text: text.trim(), after })
    text = ""
    after = next
  }
  const command = () => {
    part("start")
    if (parts.length > 0) commands.push(parts)
    parts = []
  }
  walk(script, {
    letter: (one) => void (text += one),
    joined: (how) => part(how),
    ended: command
  })
  command()
  return commands
}

/** Returns a script without single-quoted texts, comments, and here-documents without expansion. */
export const filledIn = (script: string): string => {
  let text = ""
  walk(script, {
    letter: (one, quoted) => void (text += quoted ? " " : one),
    joined: () => void (text += "\n"),
    ended: () => void (text += "\n")
  }, true)
  return text
}

interface Hears {
  /** `literal` is a character without special meaning. */
  readonly letter: (one: string, literal: boolean) => void
  readonly joined: (how: "and" | "or") => void
  readonly ended: () => void
}

const walk = (script: string, { ended, joined, letter }: Hears, flat = false): void => {
  const end = script.length
  let depth = 0
  let quote = ""
  let heredoc: { readonly word: string; readonly literal: boolean } | undefined
  for (let at = 0; at < end; at++) {
    const one = script[at]!
    const two = script.slice(at, at + 2)
    if (quote === "'") {
      if (one === "'") quote = ""
      letter(one, true)
    } else if (one === "\\") {
      letter(" ", true)
      at++
    } else if (quote === "\"") {
      if (one === "\"") quote = ""
      letter(one, false)
    } else if (one === "'" || one === "\"") {
      quote = one
      letter(one, one === "'")
    } else if (one === "#" && (at === 0 || /[\s;(]/.test(script[at - 1]!))) {
      while (at + 1 < end && script[at + 1] !== "\n") at++
    } else if (script.startsWith("<<<", at)) {
      for (const each of "<<<") letter(each, false)
      at += 2
    } else if (two === "<<") {
      const [whole, open, word] = /^<<-?\s*(["'\\]?)(\w+)["']?/.exec(script.slice(at)) ?? []
      if (whole === undefined) {
        letter(one, false)
        continue
      }
      heredoc = { word: word!, literal: open !== "" }
      for (const each of "<<X ") letter(each, false)
      at += whole.length - 1
    } else if (one === "\n") {
      if (heredoc !== undefined) {
        const rest = script.slice(at + 1)
        const close = new RegExp(`^[ \\t]*${heredoc.word}[ \\t]*$`, "m").exec(rest)
        const body = close === null ? rest : rest.slice(0, close.index)
        const first = body.trimStart()[0]
        if (flat) { for (const each of body) letter(each, heredoc.literal) }
        else if (first !== undefined) letter(first, false)
        at += body.length + (close?.[0].length ?? 0)
        heredoc = undefined
      }
      if (depth === 0 || flat) ended()
      else letter(" ", false)
    } else if (!flat && (one === "(" || one === ")")) {
      depth = Math.max(0, depth + (one === "(" ? 1 : -1))
      letter(one, false)
    } else if (depth === 0 && (two === "&&" || two === "||")) {
      joined(two === "&&" ? "and" : "or")
      at++
    } else if (depth === 0 && one === ";") ended()
    else letter(one, false)
  }
}
