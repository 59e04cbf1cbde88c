/**
 * What sessions leave for the next ones: items, how they are put together, and how they are written down for a model.
 */
import * as Schema from "effect/Schema"

/** One thing to remember. @category models @since 0.1.0 */
export interface Item extends Schema.Schema.Type<typeof Item> {}
/** @category schemas @since 0.1.0 */
export const Item = Schema.Struct({
  kind: Schema.Literals(["fact", "blocker", "note", "handoff"]),
  text: Schema.String,
  /** When the session ended that left it: milliseconds since the epoch. */
  at: Schema.Finite
})

/**
 * What a hook or a tool writes down. `resolved` takes a blocker (or anything else) of the same text back.
 *
 * @category models
 * @since 0.1.0
 */
export interface Note extends Schema.Schema.Type<typeof Note> {}
/** @category schemas @since 0.1.0 */
export const Note = Schema.Struct({
  kind: Schema.Literals(["fact", "blocker", "note", "handoff", "resolved"]),
  text: Schema.String
})

/** Most characters of one item, and of a handoff. */
const maxText = 1_000
const maxHandoff = 8_000

/** One line, so that no item can pass for several; a handoff keeps its lines. */
const clean = ({ kind, text }: Note): Note => {
  const said = text.replaceAll(/[\p{Cc}--[\n\t]]|[\p{Cf}\u2028\u2029]/gv, "").trim()
  return kind === "handoff"
    ? { kind, text: cut(said, maxHandoff) }
    : { kind, text: cut(said.replaceAll(/\s+/g, " "), maxText) }
}

/** Most characters of JSON that the notes of a session may take; the oldest go first. */
const maxNotes = 50_000

/** Adds a note; the same note twice is one. */
export const added = (notes: ReadonlyArray<Note>, given: Note): ReadonlyArray<Note> => {
  const note = clean(given)
  if (note.text === "") return notes
  const others = notes.filter((one) => one.text !== note.text && !(one.kind === "handoff" && note.kind === "handoff"))
  const all = [...others, note]
  let size = all.reduce((sum, one) => sum + JSON.stringify(one).length + 1, 0)
  let from = 0
  while (size > maxNotes && from < all.length - 1) size -= JSON.stringify(all[from++]!).length + 1
  return all.slice(from)
}

/**
 * Puts notes to items: a handoff replaces the one before, what is resolved is gone, of more than `max` the oldest go
 * first.
 */
export const kept = (
  items: ReadonlyArray<Item>,
  notes: ReadonlyArray<Note>,
  at: number,
  max: number
): ReadonlyArray<Item> => {
  const texts = new Set(notes.map(({ text }) => text))
  const hasHandoff = notes.some(({ kind }) => kind === "handoff")
  const others = items.filter(({ kind, text }) => !texts.has(text) && !(hasHandoff && kind === "handoff"))
  const news = notes.flatMap(({ kind, text }): ReadonlyArray<Item> => kind === "resolved" ? [] : [{ kind, text, at }])
  return [...others, ...news].slice(-max)
}

const titles = { handoff: "Handoff of the last session", blocker: "Blockers", fact: "Facts", note: "Notes" } as const

/** Writes items down, what matters most and the newest first, in at most `max` characters. */
export const written = (items: ReadonlyArray<Item>, max: number): string => {
  let text = ""
  let left = 0
  for (const kind of ["handoff", "blocker", "fact", "note"] as const) {
    const own = items.filter((item) => item.kind === kind).toReversed()
    let title = `${text === "" ? "" : "\n"}${titles[kind]}:`
    for (const item of own) {
      const line = kind === "handoff"
        ? `${title}\n${cut(item.text, Math.max(0, max - title.length - 1))}`
        : `${title}\n- ${item.text}`
      if (text.length + line.length > max) {
        left++
        continue
      }
      text += line
      title = ""
    }
  }
  return left === 0 ? text : `${text}\n(${left} more left out)`
}

const cut = (text: string, max: number): string =>
  text.length <= max ? text : `${text.slice(0, Math.max(0, max - 1))}…`.toWellFormed()
