/** Scans texts, JSON and messages for values, and replaces them. */
import type { Json } from "@belay/core/Json"
import type { AssistantMessage, ContentPart, FilePart, Message } from "@belay/core/Message"
import { withoutUndefined } from "../../../internal/withoutUndefined.ts"
import { markOf, withoutMarks, withoutRests } from "../cutMarks.ts"
import { findAll, type Finding } from "../detector.ts"
import { mapJson } from "../mapJson.ts"
import { kindLabel, type Placeholders, type Value } from "../placeholderStore.ts"
import { lengthWithout, textBatches } from "../textBatches.ts"
import { margin, minKnownLength, type ScanRules } from "./scanRules.ts"

const nothing: ReadonlyArray<never> = []

const noCounts: ReadonlyMap<string, number> = new Map()

/** One scan of a text, a message or JSON. A class: it counts what it finds. */
export class Scan {
  /** The number of findings by kind. */
  counts: ReadonlyMap<string, number> = noCounts
  /** The first kind that was found and is not allowed. */
  blocked: string | undefined = undefined
  /** Whether a value was redacted because the store has no room for another placeholder. */
  isFull = false
  readonly rules: ScanRules
  /** While JSON is scanned: the texts that may contain something, and the number of values that were known before. */
  private suspects: { readonly size: number; readonly texts: ReadonlySet<string> } | undefined = undefined
  private readonly placeholders: Placeholders
  /** Whether a text that looks like a placeholder is a placeholder, which stays. */
  private readonly isPlaceholder: (placeholder: string) => boolean

  constructor(rules: ScanRules, placeholders: Placeholders, isPlaceholder: (placeholder: string) => boolean) {
    this.rules = rules
    this.placeholders = placeholders
    this.isPlaceholder = isPlaceholder
  }

  /** Returns the text with its values replaced. All methods return the same object when nothing is found. */
  text(text: string): string {
    return this.replace(text, this.find(text))
  }

  /**
   * Scans a streamed text that continues. A value at its end stays until more of the text is known; the last `hold`
   * characters will be scanned again.
   */
  stream(text: string, hold: number): string {
    const { rules } = this
    const known = withoutRests(text, rules.cuts)
    const found = this.find(known).filter(({ kind }) => rules.strategy(kind) !== "warn")
    const complete = found.filter(({ end, start }) => end <= known.length - margin || start < known.length - hold)
    if (complete.length === 0) return known
    // A value that is longer than the buffer is redacted at once. Its rest is removed when it arrives.
    const cut = new Set(complete.filter(({ end, start }) => end > known.length - margin && start < known.length - hold))
    for (const { kind } of cut) {
      const more = rules.detectors.find((detector) => detector.kind === kind)?.more
      if (more === undefined && kind !== rules.lookalike) this.blocked ??= kind
    }
    return withoutRests(this.replace(known, complete, cut), rules.cuts)
  }

  /** Scans a text that was streamed and has ended, so that no rest of a value can follow. */
  streamed(text: string): string {
    return this.text(withoutMarks(text, this.rules.cuts))
  }

  /** Scans JSON, with its keys and numbers. */
  json(value: Json): Json {
    if (typeof value !== "object" || value === null) return this.part(value)
    const { placeholders: { size }, rules: { cleanValues, placeholders, quick, searchesBatches } } = this
    if (cleanValues.get(value) === size) return value
    if (placeholders === undefined && quick !== undefined) {
      const length = lengthWithout(quick, value, minKnownLength)
      if (length >= minRemembered) cleanValues.set(value, size)
      if (length >= 0) return value
    }
    if (!searchesBatches) return this.part(value)
    this.suspects = { size, texts: this.suspectsIn(value) }
    if (this.suspects.texts.size === 0) cleanValues.set(value, size)
    else value = this.part(value)
    this.suspects = undefined
    return value
  }

  private part(value: Json): Json {
    if (typeof value === "string") return this.text(value)
    if (typeof value === "number") return this.number(value)
    return mapJson(value, (item) => this.part(item), (key) => this.text(key))
  }

  /** The texts that may contain something, because something was found in their batch. */
  private suspectsIn(value: Json): ReadonlySet<string> {
    const suspects = new Set<string>()
    for (const { joined, texts } of textBatches(value, minKnownLength)) {
      if (this.find(joined).length > 0) { for (const text of texts) suspects.add(text) }
    }
    return suspects
  }

  /** Scans a message. */
  message(message: Message): Message {
    if (message.role === "tool") {
      const content = this.json(message.content)
      return content === message.content ? message : { ...message, content }
    }
    if (message.role === "user") {
      const content = typeof message.content === "string"
        ? this.text(message.content)
        : this.list(message.content, (part) => this.contentPart(part))
      return content === message.content ? message : { ...message, content }
    }
    return this.assistantMessage(message)
  }

  private assistantMessage(message: AssistantMessage): AssistantMessage {
    const content = this.text(message.content)
    const reasoning = this.optionalText(message.reasoning)
    const toolCalls = message.toolCalls === undefined
      ? undefined
      : this.list(message.toolCalls, (call) => this.call(call))
    if (content === message.content && reasoning === message.reasoning && toolCalls === message.toolCalls) {
      return message
    }
    return withoutUndefined<AssistantMessage>({ ...message, content, reasoning, toolCalls })
  }

  /** Scans a text that may be absent. */
  optionalText(text: string | undefined): string | undefined {
    return text === undefined ? undefined : this.text(text)
  }

  /** Scans a tool call. */
  call<Call extends { readonly args: Json; readonly malformed?: string }>(call: Call): Call {
    const args = this.json(call.args)
    const malformed = this.optionalText(call.malformed)
    if (args === call.args && malformed === call.malformed) return call
    return malformed === undefined ? { ...call, args } : { ...call, args, malformed }
  }

  /** Scans the name and the URL of a file. A `data:` URL that contains text is decoded. */
  file(file: FilePart): FilePart {
    const filename = this.optionalText(file.filename)
    const url = file.url.startsWith("data:") ? this.dataUrl(file.url) : this.text(file.url)
    if (filename === file.filename && url === file.url) return file
    return filename === undefined ? { ...file, url } : { ...file, url, filename }
  }

  /** Applies `f` to each item; returns the same list when nothing changes. */
  list<A>(items: ReadonlyArray<A>, f: (item: A) => A): ReadonlyArray<A> {
    const mapped = items.map(f)
    return mapped.every((item, index) => item === items[index]) ? items : mapped
  }

  private contentPart(part: ContentPart): ContentPart {
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
    const text = encoded ? Buffer.from(body, "base64").toString("utf8") : decodePercent(body)
    const replaced = this.text(text)
    if (replaced === text) return url
    return head + (encoded ? Buffer.from(replaced).toString("base64") : encodeURIComponent(replaced))
  }

  private number(value: number): Json {
    const text = String(value)
    const [finding] = text.length < minKnownLength ? [] : this.find(text)
    if (finding === undefined || finding.start !== 0 || finding.end !== text.length) return value
    const replacement = this.replacement(finding.kind, value)
    return replacement === text ? value : replacement
  }

  private find(text: string): ReadonlyArray<Finding> {
    const { suspects } = this
    // A value that became known a moment ago may be in any text.
    if (suspects !== undefined && suspects.size === this.placeholders.size && !suspects.texts.has(text)) return nothing
    const { cleanTexts, detectors, isAllowed, lookalike, placeholders, quick } = this.rules
    if (placeholders === undefined && quick !== undefined && cleanTexts.isWithout(quick, text)) return nothing
    const { known, kept } = this.findPlaceholders(text)
    const canBeCached = known.length === 0 && kept.length === 0
    if (canBeCached && (quick?.test(text) === false || cleanTexts.has(text))) return nothing
    const found = findAll(detectors, text, known, kept).filter(({ end, kind, start }) =>
      kind === lookalike || !isAllowed(text.slice(start, end))
    )
    if (canBeCached && found.length === 0) cleanTexts.add(text)
    return found
  }

  /** Finds texts that look like placeholders, and values that have a placeholder already. */
  private findPlaceholders(text: string): { readonly known: Array<Finding>; readonly kept: Array<Finding> } {
    const { lookalike, placeholders: pattern } = this.rules
    const known: Array<Finding> = []
    const kept: Array<Finding> = []
    if (pattern === undefined) return { known, kept }
    if (text.includes("<")) {
      for (const { 0: match, index } of text.matchAll(pattern)) {
        const list = this.isPlaceholder(match) ? kept : known
        list.push({ kind: lookalike, start: index, end: index + match.length })
      }
    }
    for (const [value, kind] of this.placeholders.values()) {
      if (value.length < minKnownLength || kind === lookalike) continue
      for (let at = text.indexOf(value); at >= 0; at = text.indexOf(value, at + value.length)) {
        known.push({ kind, start: at, end: at + value.length })
      }
    }
    return { known, kept }
  }

  private replace(text: string, found: ReadonlyArray<Finding>, cut?: ReadonlySet<Finding>): string {
    if (found.length === 0) return text
    let output = ""
    let at = 0
    for (const one of found) {
      output += text.slice(at, one.start)
      const value = text.slice(one.start, one.end)
      output += cut?.has(one) === true
        ? markOf(this.rules.cuts, one.kind, value) ?? this.rules.marker(one.kind)
        : this.replacement(one.kind, value)
      at = one.end
    }
    return output + text.slice(at)
  }

  /** What replaces a value. */
  private replacement(kind: string, value: Value): string {
    const { placeholders, rules } = this
    if (kind === rules.lookalike) return placeholders.put(kind, value) ?? rules.marker(kind)
    this.counts = new Map(this.counts).set(kind, (this.counts.get(kind) ?? 0) + 1)
    switch (rules.strategy(kind)) {
      case "placeholder": {
        const placeholder = placeholders.put(kind, value)
        if (placeholder === undefined) this.isFull = true
        return placeholder ?? rules.marker(kind)
      }
      case "hash":
        return `[${kindLabel(kind)}:${placeholders.digest(kind, value)}]`
      case "mask": {
        const points = Array.from(String(value))
        return points.length < 9 ? "****" : `****${points.slice(-4).join("")}`
      }
      case "warn":
        return String(value)
      case "block":
        this.blocked ??= kind
        return rules.marker(kind)
      case "redact":
        return rules.marker(kind)
    }
  }
}

/** Values with fewer characters are searched again faster than they are looked up. */
const minRemembered = 1_000

/** Decodes percent-encoded text. A `%` that does not begin an escape stands for itself. */
const decodePercent = (text: string): string => {
  const ascii = text.toWellFormed().replaceAll(/[^\0-\x7f]+/g, encodeURIComponent).replaceAll(
    /%(?![0-9a-f]{2})/gi,
    "%25"
  )
  const bytes = ascii.replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(bytes, "latin1").toString()
}
