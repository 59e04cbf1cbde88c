/**
 * Keeps large files of an input out of the state that is stored with every step: they are in the message of the user,
 * which is stored once.
 */
import type { FilePart, Message } from "../../data/Message.ts"
import type { RunState } from "../../data/RunState.ts"

/** Smaller files stay in the state, in characters. */
const largeLength = 65_536

/** Where the files of the input are: the number of a message, and those of its parts. */
interface Place {
  readonly message: number
  readonly parts: ReadonlyArray<number>
}

/** What is read of a commit. */
interface Step {
  readonly state: Omit<RunState, "messages">
  readonly snapshot: () => RunState
}

export const withoutFiles = ({ snapshot, state }: Step): object => {
  const { attachments = [], ...input } = state.input
  if (attachments.reduce((sum, { url }) => sum + url.length, 0) < largeLength) return state
  const place = placeOf(snapshot().messages, attachments)
  return place === undefined ? state : { ...state, input, inputFiles: place }
}

/** Somebody may have changed what is stored, so nothing of it is known. `RunState.decode` refuses a lost file. */
export const withFiles = (stored: unknown): unknown => {
  if (!isObject(stored) || !Object.hasOwn(stored, "inputFiles")) return stored
  const { inputFiles, ...state } = stored
  const { message, parts } = isObject(inputFiles) ? inputFiles : {}
  const holder = Array.isArray(state["messages"]) ? state["messages"][Number(message)] : undefined
  const content = isObject(holder) && Array.isArray(holder["content"]) ? holder["content"] : []
  const attachments = Array.isArray(parts) ? parts.map((part) => content[Number(part)] ?? null) : null
  return { ...state, input: isObject(state["input"]) ? { ...state["input"], attachments } : state["input"] }
}

const isObject = (value: unknown): value is { readonly [key: string]: unknown } =>
  typeof value === "object" && value !== null

const placeOf = (messages: ReadonlyArray<Message>, files: ReadonlyArray<FilePart>): Place | undefined => {
  for (let message = messages.length - 1; message >= 0; message--) {
    const parts = partsOf(messages[message]!, files)
    if (parts !== undefined) return { message, parts }
  }
  return undefined
}

const partsOf = ({ content, role }: Message, files: ReadonlyArray<FilePart>): ReadonlyArray<number> | undefined => {
  if (role !== "user" || typeof content === "string") return undefined
  const parts = files.map((file) => content.findIndex((part) => part.type === "file" && isSame(part, file)))
  return parts.includes(-1) ? undefined : parts
}

const isSame = (a: FilePart, b: FilePart): boolean =>
  a === b || (a.mediaType === b.mediaType && a.filename === b.filename && a.url === b.url)
