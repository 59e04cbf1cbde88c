/**
 * Whether the person asked for an act of which no value says so: one that takes only texts, or what its schema names.
 */
import { atFirstUse } from "../../internal/atFirstUse.ts"
import type { Memory } from "./memory.ts"
import { breakMark } from "./person.ts"
import { has, indexIn } from "./text/hashes.ts"
import { partsOf, singular, wordSet } from "./text/names.ts"

/** Words in the names of tools that tell somebody something. */
const outward = wordSet(
  "send post publish share tweet reply answer respond notify inform announce broadcast forward invite submit upload"
)
/** Words with which people ask for that. */
const telling = new Set([...outward, ...wordSet("tell write ask contact thank greet congratulate remind confirm")])
/** The same, but also the names of what is read: they count where a request begins. */
const tellingNouns = wordSet("mail email message text comment note post")
const beforeVerbs = wordSet("and then to please also or you")

/** What an agent keeps for itself while it works, or only the person sees. */
const ownNotes = wordSet(
  "todo todos plan think thought thoughts scratchpad progress task tasks memory note notes reminder reminders " +
    "draft drafts"
)

/** Words of a tool's name that say nothing about what it does. */
const empty = wordSet("tool tools api do my the a an to of for in on with all new item data service action call v1 v2")

/** Other words for what tools are about. */
const others: { readonly [word: string]: ReadonlyArray<string> | undefined } = {
  event: ["meeting", "appointment", "calendar", "schedule"],
  meeting: ["event", "appointment", "calendar", "schedule"],
  appointment: ["event", "meeting", "calendar", "schedule"],
  book: ["reserve", "booking", "reservation"],
  reserve: ["book", "booking"],
  file: ["document", "save", "write"],
  document: ["file", "save", "write"]
}

/** Whether the words of the person ask for what a tool does, by the words of its name. */
export const isAskedFor = (memory: Memory, tool: string): boolean => {
  const parts = partsOf(tool).filter((part) => !empty.has(part))
  if (parts.some((part) => outward.has(part))) return asksToTell(memory, parts)
  if (parts.some((part) => ownNotes.has(part))) return true
  return parts.some((part) =>
    isWordSaid(memory, part) || others[singular(part)]?.some((one) => isWordSaid(memory, one))
  )
}

/** Acts that nobody takes back, and the words with which people ask for them. Who names a thing does not mean these. */
const weighty: { readonly [verb: string]: ReadonlySet<string> | undefined } = {
  publish: wordSet("publish post release live online upload blog ship share website web announce"),
  public: wordSet("public publish share online everyone everybody anyone open visible"),
  share: wordSet(
    "share give access send invite show forward publish link let grant permission collaborate add post public"
  ),
  expose: wordSet("expose public open share publish port access tunnel forward"),
  approve: wordSet("approve accept ok okay confirm sign pass lgtm yes fine agree good allow clear"),
  sign: wordSet("sign signature docusign agree countersign"),
  merge: wordSet("merge land ship integrate combine accept join unify consolidate"),
  deploy: wordSet("deploy ship release push publish roll rollout live launch production staging promote update"),
  grant: wordSet("grant give allow let access make permission add admin share role member"),
  unlock: wordSet("unlock open let in access"),
  ownership: wordSet("ownership owner transfer hand give"),
  submit: wordSet("submit send file hand turn apply report enter upload post deliver finish complete form application")
}

/** Whether a call of a tool needs a word of the person for its act, also if the person named the thing. */
export const isUnsaidAct = (memory: Memory, tool: string): boolean => {
  const words = partsOf(tool).flatMap((part) => weighty[part] === undefined ? [] : [weighty[part]])
  return words.length > 0 && !words.some((all) => [...all].some((word) => isWordSaid(memory, word)))
}

const asksToTell = (memory: Memory, parts: ReadonlyArray<string>): boolean =>
  [...tellingForms()].some((word) => has(memory.get("words"), memory.hash(word)) && !tellingNouns.has(word)) ||
  [...new Set([...tellingNouns, ...parts])].some((word) => beginsRequest(memory, word))

/** Whether a word stands where a request begins: `mail it to Ann`, `and mail it`. */
const beginsRequest = ({ get, hash }: Memory, word: string): boolean => {
  const words = get("words")
  const own = hash(word)
  return words.startsWith(own) || indexIn(words, breakMark + own) >= 0 ||
    [...beforeVerbs].some((before) => indexIn(words, hash(before) + own) >= 0)
}

const isWordSaid = ({ get, hash }: Memory, word: string): boolean => {
  const words = get("words")
  return formsOf(word).some((form) => has(words, hash(form)))
}

/** The forms of a word, of a verb or of a noun. */
const formsOf = (word: string): ReadonlyArray<string> => {
  const bare = singular(word)
  const stem = bare.replace(/e$/, "")
  const root = bare.replace(/(?:er|or|ation|ion|ment|ing|ed)$/, "")
  return [...new Set([word, bare, `${bare}s`, `${stem}es`, `${stem}ed`, `${stem}ing`, `${stem}er`, root, `${root}e`])]
    .filter((form) => form.length > 1)
}

const tellingForms = atFirstUse(() => new Set([...telling].flatMap(formsOf)))
