/** The verb in the name of a tool: the word that says whether it reads or acts. */
import { partsOf, singular, wordSet } from "./names.ts"

const reading = wordSet(
  `get list search read find check fetch describe count view show query lookup look glob grep ls cat browse open visit
   inspect download load retrieve status track whoami stat head tail tree peek preview summarize analyze validate verify
   compare calculate compute scrape crawl explore recall`
)
const acting = wordSet(
  `send delete remove create update write insert execute exec run upload publish install cancel pay buy purchase set add
   edit modify revoke grant invite forward reply submit approve post put patch move rename copy transfer transmit share
   unshare deploy merge push commit close assign reset change register subscribe unsubscribe enable disable kill stop
   start restart schedule order book reserve refund charge import export save store drop clear purge empty checkout
   checkin sign vote like follow block ban mute kick archive restore replace append apply confirm reject accept react
   pin unlock lock arm disarm switch turn toggle activate deactivate launch trigger dispatch release dial notify
   broadcast tweet announce`
)
/** Words that act, and are nouns too. */
const nouns = wordSet("order book share transfer schedule post charge import export run set")
/** More of them, in the names of collections: `list_merge_requests`. */
const collected = wordSet(
  `merge deploy reply forward reset lock sign follow block release commit push close move grant like vote ban pin kick
   start stop change copy store launch trigger switch archive register dispatch save restore`
)
/** Words that always act, also after a word that reads: `get_and_send`. */
export const alwaysActing = wordSet(
  "send delete remove create update write insert execute exec upload publish install pay buy"
)
/** Words that read, and are nouns too: `mailing_list_add_member`, `status_set`. */
const readNouns = wordSet(
  "list search find check count view show query look browse open status track head tail tree load"
)
/** Those that begin no name as a verb. */
const onlyNouns = wordSet("status head tail tree load")
/** Verbs for telling that count only after `and`. */
const telling = wordSet("email mail message text call tweet respond answer print")
/** What is looked at when it is opened. A door or an account is not. */
const opened = wordSet(
  `url uri link page pages site website web browser tab tabs file files folder directory document doc docs attachment
   attachments mail email message messages thread image photo video pdf sheet spreadsheet project app issues invoices
   orders tickets requests items list data weather street library meteo api`
)

/** What the name of a tool says. */
export interface Verb {
  readonly word: string
  readonly acts: boolean
}

/** The words of a name of which the first are not only the name of the server. */
export const ownName = (name: string): string => /^mcp__.+?__(.+)$/.exec(name)?.[1] ?? name

/** Returns the verb among the words of a name. `isNoun`: the name says at its end what the tool returns. */
export const verbOf = (parts: ReadonlyArray<string>, isNoun: boolean): Verb | undefined => {
  const always = parts.find((part) => alwaysActing.has(part))
  if (always !== undefined) return { word: always, acts: true }
  const joined = parts.findIndex((part) => part === "and" || part === "then")
  const second = joined < 0
    ? undefined
    : parts.slice(joined + 1).find((part) => acting.has(part) || telling.has(part))
  if (second !== undefined) return { word: second, acts: true }
  const index = parts.findIndex((part, at) =>
    reading.has(part) || (acting.has(part) && !(isNoun && at === 0 && nouns.has(part)))
  )
  const word = parts[index]
  if (word === undefined) return undefined
  if (acting.has(word)) return { word, acts: true }
  const rest = parts.slice(index + 1)
  if (word === "check" && (rest[0] === "in" || rest[0] === "out")) return { word: `check ${rest[0]}`, acts: true }
  if (word === "open" && rest.length > 0 && !rest.some((part) => opened.has(part))) return { word, acts: true }
  const later = readNouns.has(word) ? verbAfter(word, rest, index > 0, isNoun) : undefined
  return later === undefined ? { word, acts: false } : { word: later, acts: true }
}

/** The verb after a word that may be a noun. `find_lock` and `list_merge_requests` only read. */
const verbAfter = (
  word: string,
  rest: ReadonlyArray<string>,
  isSecond: boolean,
  isNoun: boolean
): string | undefined => {
  const last = rest.at(-1) ?? ""
  const isCollection = isNoun || (last.length > 3 && last !== singular(last))
  return rest.find((part) => {
    if (!acting.has(part)) return false
    // A word that is a verb and a noun acts after a noun: `wish_list_order`.
    return !(nouns.has(part) || collected.has(part)) || (!isCollection && (isSecond || onlyNouns.has(word)))
  })
}

const methods = wordSet("post put patch delete")
const actNames = /^(?:action|method|operation|op|verb|http_?method)$/i
const codeNames = /^(?:query|sql|statement|expression|command|cypher|graphql|mutation)$/i
/** Statements of query languages that change something. */
const changes = new RegExp(
  [
    "(?:^|;|\\()\\s*(?:insert\\s+into|update\\s+\\S+\\s+set|delete\\s+from|drop\\s+\\w|" +
    "alter\\s+\\w|truncate\\s|grant\\s|revoke\\s)",
    "(?:^|;)\\s*(?:merge\\s+into|replace\\s+into|create\\s+\\w+\\s|call\\s+\\w|exec\\s)",
    "^\\s*mutation\\b|\\bdetach\\s+delete\\b"
  ].join("|"),
  "i"
)

/** Whether an argument of a tool that reads says that this call acts: `method: "POST"`, or a statement that changes. */
export const saysAct = (name: string, value: string): boolean =>
  actNames.test(name)
    ? partsOf(value.slice(0, 60)).slice(0, 3).some((word) => acting.has(word) || methods.has(word))
    : codeNames.test(name) && changes.test(value)
