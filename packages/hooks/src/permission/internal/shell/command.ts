/** The commands of a line. */
import type { CodeEffects } from "../code/effects.ts"
import type { Redirect, Word } from "../syntax/shellSyntax.ts"
import type { Produced } from "./producedText.ts"

/** One command of a line. */
export interface Command {
  readonly words: ReadonlyArray<Word>
  /** The program's name without its folder, in lower case. */
  readonly name: string
  /** Whether the program is named without a folder, or in a folder of the operating system. */
  readonly standard: boolean
  readonly redirects: ReadonlyArray<Redirect>
  /** `plain`: the line runs it. `wrapped`: another program runs it. `guess`: an unknown program might run it. */
  readonly via: "plain" | "wrapped" | "guess"
  /** Whether it runs another command, which is among its arguments. */
  readonly wraps: boolean
  /** Whether the line sets variables for it. */
  readonly assigns: boolean
  /** What code among its arguments does, such as a script of `sed`. */
  readonly effects?: CodeEffects
  /** The program that gives it more arguments: `xargs`, `find`, or `$` for a substitution. */
  readonly filesFrom?: string
  /** The arguments that this program gives it, if they are known. */
  readonly more?: Produced
  /** The commands whose output becomes its arguments. */
  readonly inputOf?: ReadonlyArray<ReadonlyArray<string>>
  /** The texts of its here-documents and here-strings, and what `echo` pipes into it. */
  readonly inputs?: ReadonlyArray<Word>
  /** Other commands pipe into it. */
  readonly pipe?: ReadonlyArray<Word>
}

/** All commands of a line. */
export interface Decomposed {
  readonly commands: ReadonlyArray<Command>
  /** The line contains a variable, a parameter or a substitution. */
  readonly dynamic: boolean
  /** Why the commands of the line cannot be known; `undefined` if they are known. */
  readonly unknown: string | undefined
  /** Files of the working folder whose code the line runs. Their commands are not among the commands. */
  readonly scripts: ReadonlyArray<ScriptFile>
}

/**
 * A file whose code runs. `shell`: a shell reads it. `program`: it is run by its path. `code`: an interpreter of
 * another language reads it.
 */
export interface ScriptFile {
  readonly path: string
  readonly type: "shell" | "program" | "code"
}
