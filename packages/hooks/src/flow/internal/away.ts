/** Whether the person asked for something to be taken away: deleted, cancelled, closed or blocked. */
import { atFirstUse } from "../../internal/atFirstUse.ts"
import type { Memory } from "./memory.ts"
import { add, has } from "./text/hashes.ts"
import { partsOf, wordSet } from "./text/names.ts"
import { wordsOf } from "./text/words.ts"

/** Words that say it wherever they stand. */
const strong = wordSet(
  `delete remove erase purge discard wipe trash throw rid cancel revoke unshare unsubscribe terminate kill disable
   deactivate ban uninstall destroy undo refund reimburse scrap
   lösche löschen storniere stornieren kündige kündigen entferne entfernen sperre sperren supprime supprimer annule
   annuler bloque bloquer elimina eliminar borra borrar cancela cancelar bloquea cancella annulla rimuovi verwijder
   annuleer apaga apagar`
)
/** Words that also mean something else, with the words of tools that they ask for. */
const weak: { readonly [word: string]: ReadonlySet<string> | undefined } = {
  close: wordSet("close archive end cancel deactivate terminate"),
  archive: wordSet("archive close"),
  stop: wordSet("stop end off kill terminate disable deactivate cancel unsubscribe revoke"),
  end: wordSet("stop end off kill terminate disable deactivate cancel unsubscribe revoke"),
  off: wordSet("off stop end disable deactivate kill"),
  block: wordSet("block ban freeze lock disable deactivate"),
  freeze: wordSet("block freeze lock disable deactivate"),
  lock: wordSet("block freeze lock"),
  kick: wordSet("kick remove ban"),
  reset: wordSet("reset")
}
const changers = "write edit update replace modify patch insert save create put set overwrite append change store"
const runners = wordSet("run execute exec bash shell command")
const changed = wordSet(changers)
/** Words that ask for tools of which only a hint says that they take something away: `Write` may replace a file. */
const changing: { readonly [word: string]: ReadonlySet<string> } = {
  ...Object.fromEntries(
    `${changers} fix correct add generate convert refactor implement`.split(" ").map((word) => [word, changed])
  ),
  move: wordSet("move rename"),
  rename: wordSet(`move rename ${changers}`),
  run: runners,
  execute: runners
}
/** Words that say it as verbs: `clear my cart`, and not `a clear answer`. */
const asVerbs = wordSet("clear clean drop empty dump bin junk strike cross")
const articles = wordSet("a an the very is are be as more how so too")
const objects = wordSet(
  "the my our his her its their your this that these those all every each any everything it them him up out old both"
)
/** Words in names of tools that take something away. */
const destroying = wordSet(
  `delete remove erase drop clear purge clean discard wipe trash throw away rid cancel revoke unshare unsubscribe stop
   end terminate kill disable deactivate block ban freeze lock kick close reset archive uninstall off destroy empty undo
   refund reimburse`
)

/** Whether the name of a tool says that it takes something away. */
export const isDestroying = (tool: string): boolean => partsOf(tool).some((part) => destroying.has(part))

/** Remembers the words of a message with which it asks for that. A question about it does not. */
export const hearAway = (memory: Memory, message: string): void => {
  const found = new Set<string>()
  for (const sentence of message.match(/[^.!?\n]+[.!?]*/g) ?? []) {
    if (sentence.trimEnd().endsWith("?") && isQuestion.test(wordsOf(sentence).join(" "))) continue
    for (const clause of sentence.split(/[,;:]/)) {
      const words = wordsOf(clause)
      for (const [index, word] of words.entries()) {
        const meant = meaningOf(words, word, index)
        if (meant !== undefined && !isNegated(words, index)) found.add(memory.hash(meant))
      }
    }
  }
  if (found.size > 0) memory.set("away", add(memory.get("away"), found))
}

/** A new turn forgets what was asked for before the last one. */
export const forgetAway = (memory: Memory): void => {
  memory.set("awayBefore", memory.get("away"))
  memory.set("away", "")
}

/** Whether the person asked, in this turn or the one before, for what a tool takes away. */
export const isAwayAskedFor = (memory: Memory, tool: string): boolean => {
  const said = memory.get("awayBefore") + memory.get("away")
  if (said === "") return false
  if (has(said, memory.hash("strong"))) return true
  const parts = partsOf(tool)
  const isNamed = parts.some((part) => destroying.has(part))
  const asks = (word: string, tools: ReadonlySet<string> | undefined): boolean =>
    has(said, memory.hash(word)) && parts.some((part) => tools?.has(part) === true)
  if (isNamed) return Object.entries(weak).some(([word, tools]) => asks(word, tools))
  return Object.keys(weak).some((word) => has(said, memory.hash(word))) ||
    Object.entries(changing).some(([word, tools]) => asks(word, tools))
}

const meaningOf = (words: ReadonlyArray<string>, word: string, index: number): string | undefined => {
  const verb = forms().get(word)
  if (verb === undefined) {
    return (word === "out" || word === "away") && words.slice(0, index).some((one) => taking.has(one))
      ? "strong"
      : undefined
  }
  if (strong.has(verb)) return "strong"
  const [before = "", after = ""] = [words[index - 1], words[index + 1]]
  if (asVerbs.has(verb)) {
    const isVerb = !articles.has(before) && (objects.has(after) || (verb === "drop" && words.includes("from")))
    return isVerb ? "strong" : undefined
  }
  const isNoun = articles.has(before) || (verb === "end" && !objects.has(after)) ||
    (verb === "close" && (after === "to" || after === "by")) || (verb === "kick" && after === "off")
  return isNoun ? undefined : verb
}

const taking = wordSet("take taking toss chuck sort weed leave")

const isNegated = (words: ReadonlyArray<string>, index: number): boolean =>
  words.slice(Math.max(0, index - 2), index).some((one) => negations.has(one)) || negations.has(words[index + 1] ?? "")

/** Words that turn a request into its opposite; `t` ends `don't`. */
const negations = wordSet(
  "not never t dont without nothing nicht nichts nie keine keinen kein pas jamais rien nunca niet geen"
)

/** A question that wants an answer. `Can you delete it?` wants an act. */
const isQuestion = new RegExp(
  "^(?:until|when|how|what|who|whom|whose|why|which|where|is|are|was|were|am|do|does|did|has|have|had|" +
    String.raw`(?:can|may|should|could|must) (?:i|we|one|anybody|somebody))\b`
)

/** The verb of each form: `deleting` is `delete`. */
const forms = atFirstUse(() =>
  new Map([...strong, ...asVerbs, ...Object.keys(weak), ...Object.keys(changing)].flatMap((verb) => {
    const stem = verb.replace(/e$/, "")
    const doubled = stem + stem.at(-1)
    return [verb, `${verb}s`, `${stem}ed`, `${stem}ing`, `${doubled}ed`, `${doubled}ing`].map((form) =>
      [form, verb] as const
    )
  }))
)
