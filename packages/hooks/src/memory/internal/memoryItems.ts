/** Items that a session keeps for later ones: how they are merged, and how they are rendered for a model. */
import * as Schema from "effect/Schema"

/** A remembered item. @category models @since 0.1.0 */
export interface Item extends Schema.Schema.Type<typeof Item> {}
/** The schema of an item. @category schemas @since 0.1.0 */
export const Item = Schema.Struct({
  kind: Schema.Literals(["fact", "blocker", "note", "handoff"]),
  text: Schema.String,
  /** When the session of the item ended, in milliseconds since the epoch. */
  at: Schema.Finite
})

/**
 * A note of a hook or of the model. `resolved` removes the item with the same text.
 *
 * @category models
 * @since 0.1.0
 */
export interface Note extends Schema.Schema.Type<typeof Note> {}
/** The schema of a note. @category schemas @since 0.1.0 */
export const Note = Schema.Struct({
  kind: Schema.Literals(["fact", "blocker", "note", "handoff", "resolved"]),
  text: Schema.String
})

/** The longest item and the longest handoff, in characters. */
const maxText = 1_000
const maxHandoff = 8_000

/** Joins the lines of a text, so that one item cannot look like several. A handoff keeps its lines. */
const normalizeNote = ({ kind, text }: Note): Note => {
  const printable = text.replaceAll(/[\p{Cc}--[\n\t]]|[\p{Cf}\u2028\u2029]/gv, "").trim()
  return kind === "handoff"
    ? { kind, text: truncate(printable, maxHandoff) }
    : { kind, text: truncate(printable.replaceAll(/\s+/g, " "), maxText) }
}

/** The most characters of JSON for the notes of a session. The oldest notes are dropped first. */
const maxNotes = 50_000

/** Adds a note. A note with the same text is replaced. */
export const addNote = (notes: ReadonlyArray<Note>, newNote: Note): ReadonlyArray<Note> => {
  const note = normalizeNote(newNote)
  if (note.text === "") return notes
  const others = notes.filter((one) => one.text !== note.text && !(one.kind === "handoff" && note.kind === "handoff"))
  const all = [...others, note]
  let size = all.reduce((sum, one) => sum + JSON.stringify(one).length + 1, 0)
  let from = 0
  while (size > maxNotes && from < all.length - 1) size -= JSON.stringify(all[from++]!).length + 1
  return all.slice(from)
}

/**
 * Adds notes to items. A handoff replaces the last one, and a resolved item is removed. If there are more than `max`
 * items, the oldest are dropped.
 */
export const mergeNotes = (
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

/** Renders items in at most `max` characters, the most important and the newest first. */
export const renderItems = (items: ReadonlyArray<Item>, max: number): string => {
  let text = ""
  let omitted = 0
  for (const kind of ["handoff", "blocker", "fact", "note"] as const) {
    const ofKind = items.filter((item) => item.kind === kind).toReversed()
    let title = `${text === "" ? "" : "\n"}${titles[kind]}:`
    for (const item of ofKind) {
      const line = kind === "handoff"
        ? `${title}\n${truncate(item.text, Math.max(0, max - title.length - 1))}`
        : `${title}\n- ${item.text}`
      if (text.length + line.length > max) {
        omitted++
        continue
      }
      text += line
      title = ""
    }
  }
  return omitted === 0 ? text : `${text}\n(${omitted} more left out)`
}

const truncate = (text: string, max: number): string =>
  text.length <= max ? text : `${text.slice(0, Math.max(0, max - 1))}…`.toWellFormed()
