/** Explains the effect of an exit code, per system. */
import type { Item } from "../world.ts"

/** Events at which exit code 2 blocks in Claude Code and Codex. */
export const blocksByTwo = ({ event, source }: Pick<Item, "event" | "source">): boolean =>
  (source.dialect === "claude" || source.dialect === "codex") && event !== undefined &&
  /refused|goes on with|skipped|ends$|stays/.test(event.two)

/** Explains what happens if an entry cannot be started. */
export const breaking = (item: Pick<Item, "event" | "source">, code: number): string => {
  const { event, source: { dialect, isProgram } } = item
  const ends = `the entry ends with ${code}`
  switch (dialect) {
    case "copilot":
      return event?.name === "preToolUse"
        ? `${ends}, which refuses every call that it is for`
        : `${ends}, which is a warning and nothing else`
    case "gemini":
      return code > 1 && event !== undefined && event.two.startsWith("denies")
        ? `${ends}, which denies ${event.occasion === "tool-call" ? "every call that it is for" : "whatever it is for"}`
        : `${ends}, which is a warning and nothing else`
    case "kodelet":
      return isProgram === true
        ? "asked what it is for it does not answer: it is left out, and guards nothing"
        : `${ends}, which blocks nothing`
    case "basecoat":
      return `${ends}: a warning, and what it is for passes`
    default:
      return code === 2 && blocksByTwo(item)
        ? `${ends}, which blocks: ${event!.two.split(/[,;]/)[0]}, each time`
        : `${ends}, which blocks nothing`
  }
}

/** The exit code of a program whose script does not exist. */
export const missing = (by: string | undefined): number =>
  by === undefined || /^(?:ba|z|k)sh$/.test(by) ? 127 : /^(?:python|perl|dash|sh)/.test(by) ? 2 : 1
