/**
 * Writes any value as JSON, as `JSON.stringify` would, and also what `JSON.stringify` refuses. Every property is read
 * once, and nothing throws.
 *
 * | value | is written as |
 * | --- | --- |
 * | has `toJSON` (Date, URL, ...) | what `toJSON` returns |
 * | bigint | its digits, as text |
 * | Map | an object; if a key is not text, a list of pairs |
 * | Set, and other iterables without fields | a list |
 * | Buffer, Uint8Array, ArrayBuffer, DataView | base64 text |
 * | other typed arrays | a list of numbers |
 * | Error | its name, message, fields, `cause` and `errors` |
 * | RegExp | its text |
 */
import { isPlain, type Json } from "../Json.ts"
import { messageOf } from "../text/ErrorMessage.ts"
import { cutMiddle } from "../text/Text.ts"

/** The maximum number of values. The others are left out. */
const maxValues = 250_000

/** The maximum number of levels, as in `whyNot`. */
const maxDepth = 64

/** How many of the lost parts are described. */
const maxLost = 5

/** A value as JSON, and which parts of it are lost. */
export interface EncodedJson {
  readonly json: Json
  /** A description of the lost parts. Absent if nothing is lost. */
  readonly lost: string | undefined
}

/** Writes a value as JSON. All texts and keys together have at most `maxText` characters; the rest is cut. */
export const encodeJson = (value: unknown, maxText: number): EncodedJson => {
  const encoder = new Encoder(maxText)
  const json = encoder.encode(value, "") ?? null
  return { json, lost: encoder.lost }
}

/** A class, because its fields are the state of one encoding. */
class Encoder {
  private count = 0
  private characters = 0
  private lostCount = 0
  private lostParts: ReadonlyArray<string> = []
  private readonly keys: Array<string | number> = []
  private readonly parents: Array<object> = []
  private readonly maxText: number

  constructor(maxText: number) {
    this.maxText = maxText
  }

  get lost(): string | undefined {
    if (this.lostCount === 0) return undefined
    const more = this.lostCount - this.lostParts.length
    return `${this.lostParts.join("; ")}${more > 0 ? `; and ${more} more` : ""}`
  }

  /** Returns nothing for a value that `JSON.stringify` leaves out of an object. */
  encode(value: unknown, key: string | number): Json | undefined {
    if (++this.count === maxValues) this.lose(`it has more than ${maxValues} values: the others are left out`)
    switch (typeof value) {
      case "string":
        return (this.characters += value.length) > this.maxText ? this.cut(value) : value
      case "boolean":
        return value
      case "number":
        return Number.isFinite(value) ? value : this.lose(`${this.path} is ${value}`)
      case "bigint":
        return String(value)
      case "undefined":
        return undefined
      case "object":
        return value === null ? null : this.guarded(value, key)
      default:
        this.lose(`${this.path} is a ${typeof value}`)
        return undefined
    }
  }

  /** Reading an object may run its code. */
  private guarded(value: object, key: string | number): Json | undefined {
    const depth = this.parents.length
    // oxlint-disable-next-line belay/no-try -- a value is foreign code on a synchronous path
    try {
      return this.object(value, key)
    } catch (error) {
      this.leave(depth)
      return this.lose(`${this.path} cannot be read: ${messageOf(error)}`)
    }
  }

  private object(value: object, key: string | number): Json | undefined {
    if (this.parents.includes(value)) {
      this.lose(`${this.path} contains itself`)
      return "[cycle]"
    }
    if (this.parents.length >= maxDepth) {
      this.lose(`${this.path} is nested deeper than ${maxDepth} levels`)
      return `[nested deeper than ${maxDepth} levels]`
    }
    if (ArrayBuffer.isView(value)) return isBytes(value) ? this.bytes(value) : this.list(value, numbersOf(value))
    const shown = "toJSON" in value && typeof value.toJSON === "function" ? this.shownBy(value, key) : value
    if (typeof shown !== "object" || shown === null) return this.encode(shown, key)
    if (Array.isArray(shown)) return this.list(value, shown)
    return isPlain(shown) ? this.fields(value, shown) : this.instance(value, shown)
  }

  /** Calls `toJSON`. If it fails, the fields of the value are written. */
  private shownBy(value: object & { readonly toJSON?: unknown }, key: string | number): unknown {
    // oxlint-disable-next-line belay/no-try -- a method of the value is foreign code on a synchronous path
    try {
      // The caller has checked that it is a function.
      return (value.toJSON as (key: string) => unknown)(String(key))
    } catch (error) {
      this.lose(`${this.path}.toJSON failed: ${messageOf(error)}`)
      return value
    }
  }

  /** The tag of the value is read, because `instanceof` does not know the classes of other realms. */
  private instance(parent: object, value: object): Json | undefined {
    const tag = Object.prototype.toString.call(value).slice(8, -1)
    if (value instanceof Error || tag === "Error") return this.fields(parent, value, errorKeys)
    switch (tag) {
      case "Map": {
        // If it only has the tag of a Map, reading it fails, and the failure is described.
        const entries = [...value as Map<unknown, unknown>]
        return entries.every(([key]) => typeof key === "string")
          ? this.fields(parent, Object.fromEntries(entries))
          : this.list(parent, entries)
      }
      case "Number":
      case "String":
      case "Boolean":
      case "BigInt": {
        const inner: unknown = value.valueOf()
        return typeof inner === "object" ? this.fields(parent, value) : this.encode(inner, "")
      }
      case "RegExp":
        return RegExp.prototype.toString.call(value)
      case "ArrayBuffer":
      case "SharedArrayBuffer":
        // It has the tag of a buffer.
        return this.bytes(new Uint8Array(value as ArrayBuffer))
      case "Promise":
        return this.lose(`${this.path} is a promise: await it`)
    }
    if (Object.keys(value).length > 0) return this.fields(parent, value)
    if (Symbol.iterator in value) return this.list(parent, itemsOf(value as Iterable<unknown>))
    if (tag !== "Object") this.lose(`${this.path} is a ${tag}, which has no fields`)
    return {}
  }

  private list(parent: object, items: ArrayLike<unknown>): ReadonlyArray<Json> {
    const made: Array<Json> = []
    const depth = this.enter(parent)
    for (let i = 0; i < items.length && this.count < maxValues; i++) {
      this.keys[depth] = i
      made.push(this.encode(this.read(items, i), i) ?? null)
    }
    this.leave(depth)
    return made
  }

  private fields(parent: object, value: object, more: ReadonlyArray<string> = []): Json {
    const made: Record<string, Json> = {}
    const depth = this.enter(parent)
    for (const key of more.length === 0 ? Object.keys(value) : new Set([...more, ...Object.keys(value)])) {
      if (this.count >= maxValues) break
      this.keys[depth] = key
      if ((this.characters += key.length) > this.maxText) {
        this.lose(`${this.path.slice(0, 200)} and what follows is left out: ${this.tooLong}`)
        break
      }
      const json = this.encode(this.read(value, key), key)
      if (json === undefined) continue
      // An assignment to this name would set the prototype.
      if (key === "__proto__") {
        Object.defineProperty(made, key, { value: json, enumerable: true, writable: true, configurable: true })
      } else made[key] = json
    }
    this.leave(depth)
    return made
  }

  private read(value: object, key: string | number): unknown {
    // oxlint-disable-next-line belay/no-try -- a getter is foreign code on a synchronous path
    try {
      // It is an object, so any key may be read.
      return (value as Record<string | number, unknown>)[key]
    } catch (error) {
      this.lose(`${this.path} cannot be read: ${messageOf(error)}`)
      return undefined
    }
  }

  private enter(parent: object): number {
    return this.parents.push(parent) - 1
  }

  private leave(depth: number): void {
    this.parents.length = depth
    this.keys.length = depth
  }

  private cut(text: string): string {
    this.lose(`${this.path} is cut: ${this.tooLong}`)
    const note = leftOut(text.length)
    const rest = this.maxText - (this.characters - text.length)
    // Half of a file cannot be opened.
    return text.startsWith("data:") || rest < 2 * note.length ? note : cutMiddle(text, rest)
  }

  private bytes(view: ArrayBufferView): string {
    const length = Math.ceil(view.byteLength / 3) * 4
    if ((this.characters += length) <= this.maxText) return base64(view)
    this.lose(`${this.path} is left out: ${this.tooLong}`)
    return leftOut(length)
  }

  private get tooLong(): string {
    return `the texts have more than ${this.maxText} characters`
  }

  private get path(): string {
    return `$${this.keys.map((key) => typeof key === "number" ? `[${key}]` : `.${key}`).join("")}`
  }

  private lose(why: string): null {
    if (++this.lostCount <= maxLost) this.lostParts = [...this.lostParts, why]
    return null
  }
}

const leftOut = (length: number): string => `[left out: ${length} characters]`

const errorKeys = ["name", "message", "cause", "errors"]

const isBytes = (value: ArrayBufferView): boolean =>
  value instanceof DataView || /^(Uint8Array|Uint8ClampedArray|DataView)$/.test(
    Object.prototype.toString.call(value).slice(8, -1)
  )

/** All other views are arrays of numbers. */
const numbersOf = (value: ArrayBufferView): ArrayLike<unknown> => value as ArrayBufferView & ArrayLike<unknown>

const base64 = ({ buffer, byteLength, byteOffset }: ArrayBufferView): string => {
  const bytes = new Uint8Array(buffer, byteOffset, byteLength)
  let text = ""
  // A call has a limited number of arguments.
  for (let i = 0; i < bytes.length; i += 8_192) text += String.fromCharCode(...bytes.subarray(i, i + 8_192))
  return btoa(text)
}

/** Reads an iterable, which may be endless. */
const itemsOf = (iterable: Iterable<unknown>): ReadonlyArray<unknown> => {
  const items: Array<unknown> = []
  for (const item of iterable) if (items.push(item) >= maxValues) break
  return items
}
