/** Arguments that say who may do what with a thing. */
import { partsOf, wordSet } from "./text/names.ts"

const accessWords = wordSet(
  "permission permissions role roles scope scopes visibility access privacy sharing acl acls audience grant grants " +
    "rights privilege privileges"
)

/** Values that let nobody do more than look. */
const narrow = wordSet(
  "private none nobody restricted internal read readonly read_only read-only reader view viewer guest member " +
    "user me self r"
)

/** Words of values that let everybody in, whatever the name of the argument is. */
const everybody = wordSet("anyone everyone everybody anybody public world anonymous unrestricted allusers")

/** Words of flags that let others in. */
const openingWords = wordSet(
  "public shared anyone everyone external admin unrestricted anonymous ownership writable editable"
)
/** Words of flags that let somebody do more, after a word such as `can`. */
const doing = wordSet("edit editor editing write writing manage reshare share sharing invite delete owner admin")
const allowing = wordSet("can may allow allows allowed grant make is as give enable")
/** Words of flags that keep others out. */
const closingWords = wordSet("private restricted readonly confidential internal hidden")

/** Whether a value gives somebody more than to look: a constant of the schema does not ground it. */
export const opensAccess = (name: string, value: string | number): boolean =>
  (partsOf(name).some((part) => accessWords.has(part)) && !narrow.has(String(value).toLowerCase())) ||
  (typeof value === "string" && value.length < 40 && partsOf(value).some((part) => everybody.has(part)))

/** The word that a flag is about if it lets others in: `public` of `isPublic`, `edit` of `canEdit`. */
export const openingWordOf = (name: string): string | undefined => {
  const parts = partsOf(name)
  const word = parts.find((part) => openingWords.has(part))
  if (word !== undefined) return word
  const found = parts.find((part) => doing.has(part))
  return found !== undefined && (parts.length === 1 || parts.some((part) => allowing.has(part))) ? found : undefined
}

/** The word that a flag is about if others stay out while it is set: `private` of `is_private`. */
export const closingWordOf = (name: string): string | undefined => {
  const parts = partsOf(name)
  return parts.includes("read") && parts.includes("only") ? "read only" : parts.find((part) => closingWords.has(part))
}
