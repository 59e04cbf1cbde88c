/** Colours of a terminal as words, so that a test can say where they are. */
import type { Screen } from "../../src/internal/screen.ts"

/** It is so wide that no line is wrapped. */
export const colored: Screen = { columns: 1_000, colors: true, interactive: false, path: "" }

const names: { readonly [code: string]: string } = {
  1: "<bold>",
  2: "<dim>",
  22: "</>",
  31: "<red>",
  32: "<green>",
  33: "<yellow>",
  36: "<cyan>",
  39: "</>"
}

/** Replaces colours by words, and the folder of a test by `ROOT`. */
export const painted = (text: string, root: string): ReadonlyArray<string> =>
  text.replaceAll(root, "ROOT")
    // oxlint-disable-next-line no-control-regex -- colours are control characters
    .replaceAll(/\u001B\[(\d+)m/g, (_, code: string) => names[code] ?? `<${code}>`)
    .split("\n")
