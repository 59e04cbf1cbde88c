/** What code in another language does, as far as a guard needs it. */
export interface CodeEffects {
  /** Why it cannot be known what the code does. */
  readonly problem?: string
  /** Shell scripts that it runs. */
  readonly runs?: ReadonlyArray<string>
  readonly reads?: ReadonlyArray<string>
  readonly writes?: ReadonlyArray<string>
  /** The scripts get data on their input. */
  readonly pipes?: boolean
  /** It changes the files that the program is given. */
  readonly inPlace?: boolean
}

/** Code that does nothing but read its input and print. */
export const harmlessCode: CodeEffects = {}
