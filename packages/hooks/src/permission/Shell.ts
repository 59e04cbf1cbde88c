/**
 * Parses shell command lines the way Belay's permission rules do. Nothing is run.
 *
 * @since 0.1.0
 */
import { readScript } from "./internal/syntax/scriptReader.ts"
import type { Script, Simple, Word } from "./internal/syntax/shellSyntax.ts"

export { interpreters, shells, wrappers } from "./internal/syntax/programs.ts"
export type { Redirect, Script, Simple, Word } from "./internal/syntax/shellSyntax.ts"

/**
 * Parses a shell script into its simple commands, including those inside substitutions. It never guesses: `problem`
 * says why a script cannot be read completely. A caller that guards must then treat the script as unknown.
 *
 * @example
 * ```ts
 * import * as Shell from "@belay/hooks/Shell"
 *
 * const { commands, dynamic, problem } = Shell.parse("cd /tmp && rm -rf \"$NAME\"")
 * commands.map(({ words }) => words[0]?.text) // ["cd", "rm"]
 * dynamic // true: the value of $NAME is only known when the shell runs
 * problem // undefined: the whole line was read
 * ```
 * @category parsing
 * @since 0.1.0
 */
export const parse = (script: string): Script => {
  const { commands, dynamic, problem } = readScript(script)
  return { commands: commands.map(withoutPieces), dynamic, problem }
}

const withoutPieces = ({ assigns, inputs, redirects, words }: Simple): Simple => ({
  words: words.map(bare),
  assigns: assigns.map(({ name, value }) => ({ name, value: bare(value) })),
  redirects: redirects.map(({ op, target }) => ({ op, target: bare(target) })),
  inputs: inputs.map(bare)
})

const bare = ({ dynamic, fuzzy, text }: Word): Word => ({ text, dynamic, fuzzy })
