/** The files of a command, and what finds them. */
import type { Word } from "../syntax/shellSyntax.ts"

/** A word that names a file. */
export interface FileAccess {
  readonly word: Word
  /** `maybe`: the program is not known, so the word may be a file that is read or written. */
  readonly how: "read" | "write" | "maybe"
  /** Whether the files below the folder are read or written too. */
  readonly recursive: boolean
  /** The access happens only if this is a folder. */
  readonly ifFolder?: Word
}

/** The arguments of a command, sorted, and the list to which its files are added. */
export interface Arguments {
  readonly args: ReadonlyArray<Word>
  readonly texts: ReadonlyArray<string>
  /** The words that are neither options nor the values of options. */
  readonly operands: ReadonlyArray<Word>
  readonly wraps: boolean
  readonly recursive: boolean
  readonly inputs: ReadonlyArray<Word>
  readonly add: (word: Word, how: FileAccess["how"], recursive?: boolean, ifFolder?: Word) => void
  readonly addAll: (words: ReadonlyArray<Word>, how: FileAccess["how"], recursive?: boolean) => void
}

/** Adds the files of a command. */
export type AddFiles = (args: Arguments, name: string) => true
