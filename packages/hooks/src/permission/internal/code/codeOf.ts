/** Reads the code in other languages that a command gets. */
import { isAwk, isInterpreter } from "../syntax/nestedPrograms.ts"
import type { Word } from "../syntax/shellSyntax.ts"
import { awkEffects } from "./awk.ts"
import { editorEffects, isEditor } from "./editor.ts"
import type { CodeEffects } from "./effects.ts"
import { codeEffects, inlineCode } from "./inlineCode.ts"
import { sedEffects } from "./sed.ts"

/**
 * What code in the arguments or the inputs of a program does, as far as it can be read. Returns `undefined` for
 * programs that get no code. `mayHaveInput` says whether the program may get more input than `inputs`.
 */
export const effectsOf = (
  name: string,
  args: ReadonlyArray<Word>,
  inputs: ReadonlyArray<Word>,
  mayHaveInput: boolean
): CodeEffects | undefined => {
  const texts = args.map(({ text }) => text)
  if (isAwk(name)) return awkEffects(texts)
  if (name === "sed" || name === "gsed") return sedEffects(texts)
  if (isEditor(name)) {
    const given = inputs.map(({ text }) => text)
    return editorEffects(name, texts, inputs.length === 0 && mayHaveInput ? undefined : given)
  }
  if (!isInterpreter(name)) return undefined
  const inline = inlineCode(name, texts) ?? codeFromInput(texts, inputs)
  if (inline === undefined) return undefined
  // A value may add code to the code that is written.
  const isDynamic = [...args, ...inputs].some(({ dynamic }) => dynamic)
  return isDynamic ? { problem: `what ${name} runs is dynamic` } : codeEffects(name, inline.code, inline.flags)
}

const codeFromInput = (texts: ReadonlyArray<string>, inputs: ReadonlyArray<Word>) =>
  inputs.length === 1 && texts.every((text) => text === "-") ? { code: inputs[0]!.text, flags: "" } : undefined
