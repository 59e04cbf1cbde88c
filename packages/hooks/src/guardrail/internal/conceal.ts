/** Takes values out of texts, JSON and messages, and puts them back where they may be read. */
import type { Json } from "@belay/core/Json"
import type { ContentPart, FilePart, Message } from "@belay/core/Message"
import { Clean } from "./clean.ts"
import { type Detector, findAll, type Found } from "./detect.ts"
import { label, type Value, type Vault } from "./vault.ts"

/** What is done about a value. */
type Strategy = "block" | "redact" | "mask" | "hash" | "placeholder" | "warn"

/** What is looked for and what is done about it. */
export interface Engine {
  readonly detectors: ReadonlyArray<Detector>
  readonly strategy: (kind: string) => Strategy
  /** What stands in the text for a redacted value. */
  readonly marker: (kind: string) => string
  /** Values that may stay. */
  readonly allowed: (value: string) => boolean
  /** The kind of texts that only look like placeholders. */
  readonly lookalike: string
  /** Texts that look like placeholders of this engine; absent when it makes none. */
  readonly placeholders: RegExp | undefined
  /** Texts in which the detectors found nothing. */
  readonly clean: Clean
}

/** Builds an engine; `detectors` is not empty. */
export const engine = (
  detectors: ReadonlyArray<Detector>,
  options: Pick<Engine, "strategy" | "allowed" | "lookalike"> & { readonly marker?: Engine["marker"] }
): Engine => {
  const kinds = [...new Set([...detectors.map(({ kind }) => kind), options.lookalike])]
  return {
    marker: (kind) => `[${label(kind)}]`,
    ...options,
    detectors,
    clean: new Clean(),
    placeholders: kinds.some((kind) => options.strategy(kind) === "placeholder")
      ? new RegExp(`<(?:${kinds.map(label).join("|")})_\\d{1,9}>`, "gi")
      : undefined
  }
}

/** How many characters may come after a value before it is certain where it ends. */
const margin = 32

/** How much of a streamed text has to be kept back, so that nothing is shown before it is known to be harmless. */
export const leastHold = (detectors: ReadonlyArray<Detector>): number =>
  Math.max(0, ...detectors.map(({ reach }) => reach)) + margin

/** Values that are shorter are only found where a detector finds them. */
const shortest = 6

/** One look at something: what was found in it, by kind, and whether it may pass. */
export class Look {
  readonly counts = new Map<string, number>()
  /** The first kind that may not pass. */
  blocked: string | undefined = undefined
  /** Something was redacted because the vault is full. */
  full = false
  readonly engine: Engine
  private readonly vault: Vault
  /** Whether a text that looks like a placeholder is one. */
  private readonly keeps: (placeholder: string) => boolean

  constructor(engine: Engine, vault: Vault, keeps: (placeholder: string) => boolean) {
    this.engine = engine
    this.vault = vault
    this.keeps = keeps
  }

  /** The text without the values. What was found is the same object when nothing was. */
  text(text: string): string {
    return this.replaced(text, this.found(text))
  }

  /**
   * The part of a text that goes on: what ends in its last characters stays until more of it is there. `hold`
   * characters will be seen again.
   */
  open(text: string, hold: number): string {
    const { engine } = this
    const rest = engine.detectors.flatMap(({ kind, more }) =>
      more === undefined ? [] : swallowed(text, engine.marker(kind), more)
    )
    const found = this.found(text).filter(({ kind }) => engine.strategy(kind) !== "warn")
    const settled = [
      ...found.filter(({ end, start }) => end <= text.length - margin || start < text.length - hold),
      ...rest
    ]
    // A value that is longer than what is kept back is redacted at once; what it goes on with is swallowed when it
    // comes.
    const cut = new Set(
      settled.filter(({ end, kind, start }) =>
        kind !== swallow && end > text.length - margin && start < text.length - hold
      )
    )
    for (const { kind } of cut) {
      const growing = engine.detectors.find((detector) => detector.kind === kind)?.more
      if (growing === undefined && kind !== engine.lookalike) this.blocked ??= kind
    }
    return settled.length === 0 ? text : this.replaced(text, settled.sort((a, b) => a.start - b.start), cut)
  }

  /** JSON without the values, in keys and in numbers too; the same object when there are none. */
  json(value: Json): Json {
    if (typeof value === "string") return this.text(value)
    if (typeof value === "number") return this.number(value)
    return mapped(value, (item) => this.json(item), (key) => this.text(key))
  }

  /** A message without the values. */
  message(message: Message): Message {
    if (message.role === "tool") {
      const content = this.json(message.content)
      return content === message.content ? message : { ...message, content }
    }
    if (message.role === "user") {
      const content = typeof message.content === "string"
        ? this.text(message.content)
        : this.list(message.content, (part) => this.part(part))
      return content === message.content ? message : { ...message, content }
    }
    const content = this.text(message.content)
    const reasoning = message.reasoning === undefined ? undefined : this.text(message.reasoning)
    const toolCalls = message.toolCalls === undefined
      ? undefined
      : this.list(message.toolCalls, (call) => this.call(call))
    return content === message.content && reasoning === message.reasoning && toolCalls === message.toolCalls
      ? message
      : {
        ...message,
        content,
        ...(reasoning === undefined ? {} : { reasoning }),
        ...(toolCalls === undefined ? {} : { toolCalls })
      }
  }

  /** A tool call without the values. */
  call<Call extends { readonly args: Json; readonly malformed?: string }>(call: Call): Call {
    const args = this.json(call.args)
    const malformed = call.malformed === undefined ? undefined : this.text(call.malformed)
    return args === call.args && malformed === call.malformed
      ? call
      : { ...call, args, ...(malformed === undefined ? {} : { malformed }) }
  }

  /**
   * A file without the values in its name and its address; of `data:` addresses, those that hold text are searched
   * inside.
   */
  file(file: FilePart): FilePart {
    const filename = file.filename === undefined ? undefined : this.text(file.filename)
    const url = file.url.startsWith("data:") ? this.dataUrl(file.url) : this.text(file.url)
    return filename === file.filename && url === file.url
      ? file
      : { ...file, url, ...(filename === undefined ? {} : { filename }) }
  }

  /** Each item as `f` makes it; the same list when `f` changes none. */
  list<A>(items: ReadonlyArray<A>, f: (item: A) => A): ReadonlyArray<A> {
    const made = items.map(f)
    return made.every((item, index) => item === items[index]) ? items : made
  }

  private part(part: ContentPart): ContentPart {
    if (part.type === "file") return this.file(part)
    const text = this.text(part.text)
    return text === part.text ? part : { ...part, text }
  }

  private dataUrl(url: string): string {
    const comma = url.indexOf(",")
    const head = url.slice(0, comma + 1)
    if (comma < 0 || !/^data:(?:text\/|application\/(?:[\w.+-]*json|xml|yaml)|[,;])/i.test(head)) return url
    const encoded = /;base64,$/i.test(head)
    const body = url.slice(comma + 1)
    const text = encoded ? Buffer.from(body, "base64").toString("utf8") : decoded(body)
    const clean = this.text(text)
    return clean === text ? url : head + (encoded ? Buffer.from(clean).toString("base64") : encodeURIComponent(clean))
  }

  private number(value: number): Json {
    const text = String(value)
    const [found] = text.length < shortest ? [] : this.found(text)
    if (found === undefined || found.start !== 0 || found.end !== text.length) return value
    const made = this.make(found.kind, value)
    return made === text ? value : made
  }

  private found(text: string): ReadonlyArray<Found> {
    const { allowed, detectors, lookalike, placeholders } = this.engine
    const special: Array<Found> = []
    const kept: Array<Found> = []
    if (placeholders !== undefined) {
      if (text.includes("<")) {
        for (const { 0: match, index } of text.matchAll(placeholders)) {
          const one = { kind: lookalike, start: index, end: index + match.length }
          if (this.keeps(match)) kept.push(one)
          else special.push(one)
        }
      }
      for (const [value, kind] of this.vault.values()) {
        if (value.length < shortest || kind === lookalike) continue
        for (let at = text.indexOf(value); at >= 0; at = text.indexOf(value, at + value.length)) {
          special.push({ kind, start: at, end: at + value.length })
        }
      }
    }
    const isPlain = special.length === 0 && kept.length === 0
    if (isPlain && this.engine.clean.has(text)) return []
    const found = findAll(detectors, text, special, kept).filter(({ end, kind, start }) =>
      kind === lookalike || !allowed(text.slice(start, end))
    )
    if (isPlain && found.length === 0) this.engine.clean.add(text)
    return found
  }

  private replaced(text: string, found: ReadonlyArray<Found>, cut?: ReadonlySet<Found>): string {
    if (found.length === 0) return text
    let made = ""
    let at = 0
    for (const one of found) {
      if (one.start < at) continue
      made += text.slice(at, one.start)
      made += cut?.has(one) === true
        ? this.engine.marker(one.kind)
        : this.make(one.kind, text.slice(one.start, one.end))
      at = one.end
    }
    return made + text.slice(at)
  }

  private make(kind: string, value: Value): string {
    const { engine, vault } = this
    if (kind === swallow) return ""
    if (kind === engine.lookalike) return vault.put(kind, value) ?? engine.marker(kind)
    this.counts.set(kind, (this.counts.get(kind) ?? 0) + 1)
    switch (engine.strategy(kind)) {
      case "placeholder": {
        const placeholder = vault.put(kind, value)
        if (placeholder === undefined) this.full = true
        return placeholder ?? engine.marker(kind)
      }
      case "hash":
        return `[${label(kind)}:${vault.digest(kind, value)}]`
      case "mask": {
        const points = Array.from(String(value))
        return points.length < 9 ? "****" : `****${points.slice(-4).join("")}`
      }
      case "warn":
        return String(value)
      case "block":
        this.blocked ??= kind
        return engine.marker(kind)
      case "redact":
        return engine.marker(kind)
    }
  }
}

const swallow = ""

/** What directly follows a marker in a stream: the rest of a value that was cut. */
const swallowed = (text: string, marker: string, more: RegExp): ReadonlyArray<Found> => {
  const found: Array<Found> = []
  const search = new RegExp(more)
  for (let at = text.indexOf(marker); at >= 0; at = text.indexOf(marker, at + marker.length)) {
    search.lastIndex = at + marker.length
    const match = search.exec(text)
    if (match !== null) {
      found.push({ kind: swallow, start: at + marker.length, end: at + marker.length + match[0].length })
    }
  }
  return found
}

/** The text that a percent-encoded one stands for. A `%` that begins no escape stands for itself. */
const decoded = (text: string): string => {
  const ascii = text.toWellFormed().replaceAll(/[^\0-\x7f]+/g, encodeURIComponent).replaceAll(
    /%(?![0-9a-f]{2})/gi,
    "%25"
  )
  const bytes = ascii.replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(bytes, "latin1").toString()
}

/** Puts values back into a text, in one pass: what a value holds is not looked at. */
export const reveal = (engine: Engine, vault: Vault, text: string): string =>
  engine.placeholders === undefined || !text.includes("<")
    ? text
    : text.replaceAll(engine.placeholders, (placeholder) => String(vault.get(placeholder) ?? placeholder))

/** Puts values back into JSON; a number comes back as one. */
export const revealJson = (engine: Engine, vault: Vault, value: Json): Json => {
  if (typeof value !== "string") {
    return mapped(value, (item) => revealJson(engine, vault, item), (key) => reveal(engine, vault, key))
  }
  const whole = vault.get(value)
  return typeof whole === "number" ? whole : reveal(engine, vault, value)
}

/** Maps the items and the keys of JSON; the same object when nothing changes. Keys that become equal are numbered. */
const mapped = (value: Json, item: (value: Json) => Json, key: (key: string) => string): Json => {
  if (typeof value !== "object" || value === null) return value
  if (Array.isArray(value)) {
    const made = value.map(item)
    return made.every((one, index) => one === value[index]) ? value : made
  }
  const entries = Object.entries(value)
  const made = entries.map(([name, one]) => [key(name), item(one)] as const)
  if (made.every(([name, one], index) => name === entries[index]![0] && one === entries[index]![1])) return value
  const names = new Set<string>()
  return Object.fromEntries(made.map(([name, one]) => {
    let unique = name
    for (let n = 2; names.has(unique); n++) unique = `${name} (${n})`
    names.add(unique)
    return [unique, one]
  }))
}
