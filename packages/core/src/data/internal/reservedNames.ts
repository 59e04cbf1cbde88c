/**
 * Words that Belay uses itself where the name of a person can stand, for example in `decidedBy` or as the default name
 * of who decided. A decision cannot be made in their name.
 */
const reservedNames: ReadonlySet<string> = new Set([
  "*",
  "a hook",
  "a person",
  "host",
  "hook",
  "nobody",
  "person",
  "policy",
  "rule",
  "runtime",
  "somebody"
])

/** Describes why a text cannot be the name of a person. Returns nothing if it can. */
export const whyNotPerson = (name: string): string | undefined =>
  name.trim() === ""
    ? "the name of who decides is empty"
    : reservedNames.has(name.trim())
    ? `"${name.trim()}" is a name that Belay uses itself: decide in the name of a person`
    : undefined
