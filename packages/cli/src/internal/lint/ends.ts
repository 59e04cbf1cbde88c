/** Explains the effect of an exit code, per system. */
import type { Item } from "../world.ts"

/** Systems in which exit code 2 blocks, and the other codes are failures. */
const byTwo: ReadonlySet<string> = new Set(["claude", "codex", "cursor", "windsurf", "factory"])

/** Events at which exit code 2 blocks, in systems with this rule. */
export const blocksByTwo = ({ event, source }: Pick<Item, "event" | "source">): boolean =>
  byTwo.has(source.dialect) && event !== undefined &&
  !/^(?:blocks nothing|the (?:model|user) reads|a warning)/.test(event.two)

/** Explains what happens if an entry cannot be started. */
export const breaking = (item: Pick<Item, "event" | "raw" | "source">, code: number): string => {
  const { event, raw, source: { dialect, isProgram } } = item
  const ends = `the entry exits with ${code}`
  switch (dialect) {
    case "copilot":
      return event?.name === "preToolUse"
        ? `${ends}, which blocks every call that it matches`
        : `${ends}, which is only a warning`
    case "gemini":
      return code > 1 && event !== undefined && event.two.startsWith("denies")
        ? `${ends}, which denies ${
          event.occasion === "tool-call" ? "every call that it matches" : "everything that it matches"
        }`
        : `${ends}, which is only a warning`
    case "kodelet":
      return isProgram === true
        ? "it does not print its type, so it is left out and guards nothing"
        : `${ends}, which blocks nothing`
    case "cursor":
      return raw["failClosed"] === true || (code === 2 && blocksByTwo(item))
        ? `${ends}, which blocks everything that it matches`
        : `${ends}, which blocks nothing`
    case "basecoat":
      return `${ends}, which is a warning and blocks nothing`
    default:
      return code === 2 && blocksByTwo(item)
        ? `${ends}, which blocks: ${event!.two.split(/[,;]/)[0]}, each time`
        : `${ends}, which blocks nothing`
  }
}

/** The exit code of a program whose script does not exist. */
export const missing = (by: string | undefined): number =>
  by === undefined || /^(?:ba|z|k)sh$/.test(by) ? 127 : /^(?:python|perl|dash|sh)/.test(by) ? 2 : 1
