/** What an argument decides: by the format of its schema, else by its name. */
import type { JsonObject } from "@belay/core/Json"
import { isIdName, partsOf, wordSet } from "./text/names.ts"

/**
 * What an argument decides.
 *
 * - `principal`, `url`, `path`, `secret` and `command` say who, where and what is run.
 * - `id` and `amount` say which thing and how much.
 * - `other` is everything that is not known; it decides too.
 * - `moment` (dates and times) and `content` (texts, and how they look) decide nothing.
 */
export type ArgumentClass =
  | "principal"
  | "url"
  | "path"
  | "secret"
  | "command"
  | "id"
  | "amount"
  | "other"
  | "moment"
  | "content"

/** An argument as it was understood, and from what. */
export interface Understood {
  readonly class: ArgumentClass
  readonly why: string
}

const byWord: ReadonlyArray<readonly [ArgumentClass, ReadonlySet<string>]> = [
  [
    "content",
    wordSet(
      `body subject title description content contents message msg text note notes summary comment comments reason
       caption purpose memo remark remarks narrative details string str patch diff prompt instructions greeting
       headline abstract explanation feedback review html markdown emoji icon color colour language lang locale theme
       format style tone`
    )
  ],
  [
    "moment",
    wordSet(
      `date dates day days_of time times deadline start end begin until since due recurring recurrence duration timezone
     checkin checkout arrival departure when schedule expiry month year weekday`
    )
  ],
  [
    "amount",
    wordSet(
      `amount price quantity qty count total sum limit size value fee cost budget guests people persons adults nights
       days hours minutes stars rating score percent percentage rate width height weight page pages offset max min top`
    )
  ],
  [
    "secret",
    wordSet(
      "password passwd passcode pin token secret credential credentials permission permissions role roles scope " +
        "scopes mode visibility access"
    )
  ],
  [
    "url",
    wordSet(
      "url uri href link links endpoint host hostname domain zone webhook website site callback redirect origin " +
        "urls uris"
    )
  ],
  [
    "path",
    wordSet(
      "path paths file files filename filepath directory dir folder cwd branch remote repo repository source src " +
        "destination dest target bucket"
    )
  ],
  ["command", wordSet("command cmd commands script sql statement expression code query filter argv args")],
  [
    "principal",
    wordSet(
      `to cc bcc recipient recipients participant participants attendee attendees guest invitee email emails mail user
       users username channel channels chat group groups phone telephone mobile iban bic account accounts payee member
       members assignee owner address addresses street city agent seller customer contact person team org organization
       tenant sender from beneficiary destination_account card wallet handle`
    )
  ]
]

/** Whether an argument decides something, so that its value has to be grounded. */
export const isDecisive = (one: ArgumentClass): boolean => one !== "content" && one !== "moment"

/** Returns what an argument decides. */
export const classOf = (name: string, schema?: JsonObject): Understood => {
  const format = typeof schema?.["format"] === "string" ? schema["format"] : undefined
  const known = format === undefined ? undefined : byFormat[format]
  if (known !== undefined) return { class: known, why: `format ${format}` }
  const parts = partsOf(name)
  const last = parts.at(-1)
  if (last === undefined) return { class: "other", why: "it has no name" }
  const joined = parts.slice(-2).join("")
  if (last === "check" || /^(?:checkin|checkout|timezone)$/.test(joined)) {
    return { class: "moment", why: `name ${name}` }
  }
  // `reference` of a payment is a text, `code` of a script is one; with a noun before them they identify something.
  if (isIdName(name) && (parts.length > 1 || !ambiguous.has(last))) return { class: "id", why: `name ${name}` }
  for (const [kind, words] of byWord) if (words.has(last)) return { class: kind, why: `name ${name}` }
  return last === "reference" ? { class: "content", why: "name reference" } : { class: "other", why: "unknown name" }
}

const ambiguous = wordSet("reference code handle key")

const byFormat: { readonly [format: string]: ArgumentClass | undefined } = {
  email: "principal",
  "idn-email": "principal",
  hostname: "url",
  "idn-hostname": "url",
  ipv4: "url",
  ipv6: "url",
  uri: "url",
  url: "url",
  iri: "url",
  "uri-reference": "url",
  uuid: "id",
  date: "moment",
  time: "moment",
  "date-time": "moment",
  duration: "moment",
  password: "secret"
}
