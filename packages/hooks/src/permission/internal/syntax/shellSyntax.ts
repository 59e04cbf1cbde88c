/** The parts of a parsed shell script. */

/** A word of a shell script, with its quotes removed. @category models @since 0.1.0 */
export interface Word {
  readonly text: string
  /** The word contains a variable or a substitution, so its value is only known when the shell runs. */
  readonly dynamic: boolean
  /** The word contains an unquoted glob or brace expansion, so the shell may replace it with other words. */
  readonly fuzzy: boolean
  /** What a dynamic or fuzzy word is made of. Only inside of Belay. */
  readonly pieces?: ReadonlyArray<Piece>
  /** Whether a dynamic word may become several words. Only inside of Belay. */
  readonly splits?: boolean
  /** A glob that matches everything that a dynamic word may be. Only inside of Belay. */
  readonly glob?: string
}

/**
 * A part of a word: text, the value of a variable (its name is empty when it cannot be read), the output of commands, a
 * number, or the name of a file through which a command is read.
 */
export type Piece =
  | { readonly type: "text"; readonly text: string; readonly quoted: boolean }
  | {
    readonly type: "variable"
    readonly name: string
    readonly fallback?: string
    readonly trim?: string
    readonly quoted: boolean
  }
  | { readonly type: "output"; readonly commands: ReadonlyArray<Simple>; readonly quoted: boolean }
  | { readonly type: "number" }
  | { readonly type: "file" }

/** A redirection, such as `> file`. @category models @since 0.1.0 */
export interface Redirect {
  /** The operator without a file descriptor: `>`, `>>`, `<`, `&>`, ... */
  readonly op: string
  readonly target: Word
}

/** A simple command: the words between two operators. @category models @since 0.1.0 */
export interface Simple {
  /** The program and its arguments. */
  readonly words: ReadonlyArray<Word>
  /** The variables that are set for this command, as in `NAME=value program`. */
  readonly assigns: ReadonlyArray<{ readonly name: string; readonly value: Word }>
  readonly redirects: ReadonlyArray<Redirect>
  /** The texts of here-documents and here-strings, which the command reads as its input. */
  readonly inputs: ReadonlyArray<Word>
  /**
   * What comes through a pipe: the command before, or `unknown` when that is not a simple command. Only inside of
   * Belay.
   */
  readonly pipe?: Simple | "unknown"
}

/** A parsed shell script. @category models @since 0.1.0 */
export interface Script {
  /** All simple commands, including those inside substitutions, in the order in which they were found. */
  readonly commands: ReadonlyArray<Simple>
  /** The script contains a variable, a parameter or a substitution. */
  readonly dynamic: boolean
  /** Why the script cannot be read completely; `undefined` when it was read. */
  readonly problem: string | undefined
}
