/** Where a shell gets the script from that it runs. */
import type { Word } from "../syntax/shellSyntax.ts"

/** What a shell runs: nothing, texts of the line, a file, or what cannot be known. */
export type ShellScript =
  | { readonly type: "nothing" }
  | { readonly type: "texts"; readonly texts: ReadonlyArray<Word>; readonly readsFile: boolean }
  | { readonly type: "file"; readonly file: Word }
  | { readonly type: "unknown" }

/** A word that is neither an option nor the value of `-o` or `-O`. */
const operand = (args: ReadonlyArray<Word>): Word | undefined =>
  args.find(({ text }, index) => !/^[-+]/.test(text) && !/^[-+]\w*[oO]$/.test(args[index - 1]?.text ?? ""))

/**
 * Reads the arguments of a shell. `inputs` are texts on its input; `mayHaveInput` says whether anything else may be
 * there.
 */
export const shellScriptOf = (
  args: ReadonlyArray<Word>,
  inputs: ReadonlyArray<Word>,
  mayHaveInput: boolean
): ShellScript => {
  const texts = args.map(({ text }) => text)
  if (texts.length > 0 && texts.every((text) => /^--(?:version|help)$/.test(text))) return { type: "nothing" }
  const readsFile = args.some(({ dynamic, text }) => /^--(?:rc|init)/.test(text) || (dynamic && text.startsWith("-")))
  const flagIndex = texts.findIndex((text) => /^[-+][a-zA-Z]*c[a-zA-Z]*$/.test(text))
  if (flagIndex >= 0) {
    const code = operand(args.slice(flagIndex + 1))
    const isKnown = code !== undefined && args.slice(0, flagIndex).every(({ dynamic }) => !dynamic)
    return isKnown ? { type: "texts", texts: [code], readsFile } : { type: "unknown" }
  }
  // It checks the script, and does not run it.
  if (texts.some((text) => /^-[a-z]*n[a-z]*$/.test(text))) return { type: "nothing" }
  if (inputs.length > 0 && texts.every((text) => /^-(?:[exuls]+)?$/.test(text))) {
    return { type: "texts", texts: inputs, readsFile }
  }
  const file = operand(args)
  if (!readsFile && file !== undefined && !texts.some((text) => /^-\w*s/.test(text))) return { type: "file", file }
  return readsFile || mayHaveInput || file !== undefined ? { type: "unknown" } : { type: "nothing" }
}
