/** Arguments that say who may do what with a thing. */
import { partsOf, wordSet } from "./text/names.ts"

const accessWords = wordSet("permission permissions role roles scope scopes visibility access privacy sharing")

/** Values that let nobody do more than look. */
const narrow = wordSet(
  "private none nobody restricted internal read readonly read_only read-only reader view viewer guest member " +
    "user me self"
)

/** Words of flags that let others in. */
const openingWords = wordSet("public shared anyone everyone external admin unrestricted")

/** Whether a value gives somebody more than to look: a constant of the schema does not ground it. */
export const opensAccess = (name: string, value: string | number): boolean =>
  accessWords.has(partsOf(name).at(-1) ?? "") && !narrow.has(String(value).toLowerCase())

/** The word that a flag is about if it lets others in: `public` of `isPublic`. */
export const openingWordOf = (name: string): string | undefined => partsOf(name).find((part) => openingWords.has(part))
