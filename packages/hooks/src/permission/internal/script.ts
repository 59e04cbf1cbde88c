/** What a line of shell is made of. */

/** A word after its quotes are gone. */
export interface Word {
  readonly text: string
  /** A variable or a substitution is in it: what the shell makes of it is not known. */
  readonly dynamic: boolean
  /** An unquoted glob or brace expansion is in it. */
  readonly fuzzy: boolean
}

export interface Redirect {
  readonly op: string
  readonly target: Word
}

/** Words up to an operator. */
export interface Simple {
  readonly words: ReadonlyArray<Word>
  readonly assigns: ReadonlyArray<{ readonly name: string; readonly value: Word }>
  readonly redirects: ReadonlyArray<Redirect>
  /** Here-documents and here-strings: what it reads. */
  readonly inputs: ReadonlyArray<Word>
}

/** What a script says. */
export interface Script {
  readonly commands: ReadonlyArray<Simple>
  /** Whether any variable, parameter or substitution is in it. */
  readonly dynamic: boolean
  /** Why it cannot be told what it does. */
  readonly problem: string | undefined
}
