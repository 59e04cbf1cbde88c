/**
 * Reads documentation: the TypeScript blocks of Markdown files and doc comments, and the links between Markdown files.
 */

/** A fenced block, with the place where its first line stands. */
export interface Block {
  readonly path: string
  readonly line: number
  readonly code: string
  /** Whether the fence says `ts run`: it is executed, not only compiled. */
  readonly run: boolean
  /** The name in a fence such as `ts file=model.ts`. The files of one page can import each other. */
  readonly file?: string
}

/** Every block fenced as `ts` in a text. */
export const blocksOf = (path: string, text: string): ReadonlyArray<Block> => {
  const blocks: Array<Block> = []
  let open: { fence: string; language: string; line: number; code: Array<string> } | undefined
  for (const [index, line] of text.split("\n").entries()) {
    const [, fence, info] = /^\s*(`{3,})(.*)$/.exec(line) ?? []
    if (open === undefined) {
      if (fence !== undefined) open = { fence, language: info!.trim(), line: index + 2, code: [] }
      continue
    }
    if (fence === undefined || fence.length < open.fence.length || info!.trim() !== "") {
      open.code.push(line)
      continue
    }
    if (/^(ts|typescript)( |$)/.test(open.language)) {
      const [, file] = / file=(\S+)/.exec(open.language) ?? []
      const run = open.language.startsWith("ts run")
      blocks.push({ path, line: open.line, code: open.code.join("\n"), run, ...(file === undefined ? {} : { file }) })
    }
    open = undefined
  }
  if (open !== undefined) throw new Error(`${path}:${open.line - 1} opens a block that does not end`)
  return blocks
}

/** The text of a source's doc comments alone, every line where it was. */
export const commentsOf = (text: string): string => {
  let inside = false
  return text.split("\n").map((line) => {
    if (/^\s*\/\*\*/.test(line)) inside = true
    const comment = inside ? line.replace(/^\s*(?:\/\*\*|\*(?!\/)) ?/, "").replace(/\s*\*\/.*$/, "") : ""
    if (line.includes("*/")) inside = false
    return comment
  }).join("\n")
}

/** The targets of the links in a Markdown text, without those inside code. */
export const linksOf = (text: string): ReadonlyArray<string> => {
  const prose = text.replaceAll(/^\s*(`{3,})[^\n]*\n[\s\S]*?^\s*\1`*\s*$/gm, "").replaceAll(/`[^`\n]*`/g, "")
  return [...prose.matchAll(/\]\(<?([^)>\s]+)>?(?:\s+"[^"]*")?\)|^\[[^\]]+\]:\s*(\S+)/gm)].map((match) =>
    match[1] ?? match[2]!
  )
}

/** The anchor that a heading gets. */
export const anchorOf = (heading: string): string =>
  heading.toLowerCase().replaceAll(/[^\p{L}\p{N}\s_-]/gu, "").trim().replaceAll(/\s/g, "-")
