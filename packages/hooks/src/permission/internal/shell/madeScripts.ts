/** Finds lines that write code and then run it. */
import { network } from "../syntax/programs.ts"
import type { Command, ScriptFile } from "./command.ts"

/** Why a line runs code that it makes itself: it writes or downloads a file, and runs a file of this name. */
export const runsWhatItWrites = (
  commands: ReadonlyArray<Command>,
  scripts: ReadonlyArray<ScriptFile>
): string | undefined => {
  if (scripts.length === 0) return undefined
  const written = new Set(commands.flatMap(({ name, redirects, via, words }) => {
    if (via === "guess") return []
    const targets = redirects.flatMap(({ op, target }) => op === "<" ? [] : [target])
    const isMaker = network.has(name) ||
      /^(?:cp|mv|ln|tee|dd|install|git|base64|openssl|tar|unzip|gunzip|patch|sed|touch|xxd)$/.test(name)
    return [...targets, ...(isMaker ? words.slice(1) : [])].map(({ text }) => baseName(text))
  }))
  const isUnpacked = commands.some(({ name }) => network.has(name)) &&
    commands.some(({ name }) => /^(?:tar|unzip|bsdtar)$/.test(name))
  const clones = commands.some(({ name, words }) => name === "git" && words.some(({ text }) => text === "clone"))
  const isMade = scripts.some(({ path, type }) =>
    written.has(baseName(path)) ||
    (type !== "code" &&
      ((clones || isUnpacked) && (!path.startsWith("/") || isBelow(path, commands)) || written.has("$")))
  )
  return isMade ? "it runs a file that it also writes" : undefined
}

/** Whether a command names a folder that a path is below, as `tar -C` does. */
const isBelow = (path: string, commands: ReadonlyArray<Command>): boolean =>
  commands.some(({ words }) =>
    words.some(({ text }) => text.length > 1 && path.startsWith(`${text.replace(/\/$/, "")}/`))
  )

const baseName = (text: string): string =>
  text.replace(/^\w+=/, "").replace(/[?#].*$/, "").replace(/\/+$/, "").replace(/^.*[/:]/, "")
