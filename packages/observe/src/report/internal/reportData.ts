/** What a report shows: totals, and one row for each thing that happened, in order. */
import type { AgentEvent } from "@belay/core/AgentEvent"
import { addUsd } from "@belay/core/Cost"
import type { Usage } from "@belay/core/Usage"
import type { Recording } from "../Recording.ts"
import { type DecisionCells, noTotals, type Row, type RowKind, singleRow, type Totals } from "./reportRows.ts"
import { dollars, isRealDecision, json, price, tokens } from "./reportText.ts"

export interface ReportData {
  readonly title: string
  readonly startedAt: number
  readonly ms: number
  readonly agents: ReadonlyArray<string>
  readonly totals: Totals
  readonly rows: ReadonlyArray<Row>
  readonly torn?: string
}

/** The longest text of a detail, in characters. */
const maxText = 1_200

/** Makes the rows. Each text passes `redact`. */
export const reportData = (recording: Recording, title: string, redact: (text: string) => string): ReportData => {
  const events = recording.entries.flatMap((entry) => entry.type === "event" ? [entry.event] : [])
  const builder = new Builder(redact, events[0]?.time ?? 0)
  for (const event of events) builder.take(event)
  return {
    title,
    startedAt: events[0]?.time ?? 0,
    ms: (events.at(-1)?.time ?? 0) - (events[0]?.time ?? 0),
    agents: [...new Set(events.map(({ agent }) => agent))],
    totals: builder.totals,
    rows: builder.rows,
    ...(recording.torn === undefined ? {} : { torn: recording.torn })
  }
}

/** A class, because each event may change a row that an earlier one has begun. */
class Builder {
  readonly rows: Array<Row> = []
  readonly totals = noTotals()
  private readonly redact: (text: string) => string
  private readonly start: number
  /** Rows that have begun and not ended, by what they are. */
  private readonly open = new Map<string, Row>()
  /** Decisions about a tool call or a model call whose row does not exist yet. */
  private readonly early = new Map<string, Array<DecisionCells>>()

  constructor(redact: (text: string) => string, start: number) {
    this.redact = redact
    this.start = start
  }

  take(event: AgentEvent): void {
    const { sessionId } = event
    switch (event.type) {
      case "turn-start":
        this.totals.turns++
        this.begin(`turn ${sessionId}`, event, "turn", `${event.agent}: turn ${event.turnNumber}`, {
          ...(event.resumed ? { note: "resumed" } : {}),
          details: [["message", event.message]]
        })
        return
      case "turn-end": {
        const isBad = event.status === "failed" || event.status === "aborted" || event.status === "cancelled"
        if (isBad) this.totals.failures++
        this.end(`turn ${sessionId}`, event.time, isBad ? "bad" : "good", `${event.status}, ${tokens(event.usage)}`, [
          ["answer", event.text]
        ])
        return
      }
      case "llm-start":
        this.begin(`model ${sessionId}`, event, "model", event.model ?? event.provider, {
          note: event.attempt > 1 ? `attempt ${event.attempt}` : "",
          details: [["provider", event.provider]]
        })
        return
      case "llm-end":
        return this.endModel(event)
      case "llm-error":
        this.totals.modelCalls++
        this.totals.failures++
        this.end(`model ${sessionId}`, event.time, "bad", `${event.error}, then ${event.decision.type}`, [
          ["error", event.message]
        ])
        return
      case "hook-llm":
        this.totals.modelCalls++
        this.count(event.usage)
        this.add(event, "model", event.model, "plain", `asked by the hook ${event.hook}`, [
          ["usage", tokens(event.usage)]
        ])
        return
      case "tool-start":
        this.begin(`tool ${sessionId} ${event.call.id}`, event, "tool", event.call.name, {
          details: [
            ["arguments", json(event.call.args)],
            ...(event.call.changed === undefined
              ? []
              : [["arguments changed by", event.call.changed.by.join(", ")] as const])
          ]
        })
        return
      case "tool-end":
        return this.endTool(event)
      case "hook":
        return this.decide(event)
      default:
        this.takeOther(event)
    }
  }

  private takeOther(event: AgentEvent): Row | undefined {
    switch (event.type) {
      case "tool-denied": {
        this.totals.refused++
        const key = `tool ${event.sessionId} ${event.call.id}`
        const row = this.open.get(key)
        const details: ReadonlyArray<readonly [string, string]> = [["refused by", event.by], ["reason", event.reason]]
        if (row !== undefined) {
          this.end(key, event.time, "bad", `refused by ${event.by}`, details)
          return row
        }
        return this.add(event, "tool", event.call.name, "bad", `refused by ${event.by}`, [
          ["arguments", json(event.call.args)],
          ...details
        ], this.takeEarly(key))
      }
      case "custom":
        return event.name === "redacted" ? this.redacted(event) : undefined
      case "ask":
        this.totals.questions++
        return this.addSingle(event)
      case "hook-failed":
      case "limit":
        this.totals.failures++
        return this.addSingle(event)
      default:
        return this.addSingle(event)
    }
  }

  private addSingle(event: AgentEvent): Row | undefined {
    const row = singleRow(event)
    return row && this.add(event, row.kind, row.title, row.state ?? "plain", row.note, row.details)
  }

  private endModel(event: Extract<AgentEvent, { readonly type: "llm-end" }>): void {
    const { finishReason, model, sessionId, text, time, toolCalls, usage } = event
    this.totals.modelCalls++
    this.count(usage)
    const calls = toolCalls.map(({ args, name }) => `${name} ${json(args)}`).join("\n")
    this.end(`model ${sessionId}`, time, "good", `${tokens(usage)}${price(usage)}`, [
      ["answered by", `${model}, ${finishReason}`],
      ["text", text],
      ["tool calls", calls]
    ])
  }

  private endTool(event: Extract<AgentEvent, { readonly type: "tool-end" }>): void {
    const { call, executed, result, sessionId, time, unfinished } = event
    this.totals.toolCalls++
    if (!result.ok && executed) this.totals.failures++
    const note = unfinished === true
      ? "stopped before it had a result"
      : !executed
      ? "did not run"
      : result.ok
      ? ""
      : "failed"
    this.end(`tool ${sessionId} ${call.id}`, time, result.ok ? "good" : "bad", note, [
      ["result", result.ok ? json(result.output) : result.error]
    ])
  }

  /** Adds the decisions of a point to the row that they are about. */
  private decide(event: Extract<AgentEvent, { readonly type: "hook" }>): void {
    const { record, sessionId } = event
    const cells = record.hooks.filter((hook) => isRealDecision(hook, record.point)).map(
      ({ answer, change, durationMs, hook, shadow, why }): DecisionCells => [
        hook,
        record.point,
        answer,
        this.text(why ?? ""),
        this.text(change?.diff ?? ""),
        Math.round(durationMs * 100) / 100,
        shadow === true
      ]
    )
    if (cells.length === 0) return
    this.totals.decisions += cells.length
    const key = record.callId === undefined ? undefined : `tool ${sessionId} ${record.callId}`
    const row = key === undefined ? this.open.get(`model ${sessionId}`) : this.open.get(key) ?? this.rowOf(key)
    if (row !== undefined && (key !== undefined || record.point.includes("Llm"))) {
      row.decisions.push(...cells)
      if (row.state !== "bad") row.state = "changed"
    } else if (key !== undefined) this.early.set(key, [...this.takeEarly(key), ...cells])
    else {
      const [[hook, point, answer]] = cells as [DecisionCells]
      const state = /Reject|Abort|failed/.test(answer) ? "bad" : "changed"
      this.add(event, "decision", `${hook}: ${answer} at ${point}`, state, record.subject ?? "", [], cells)
    }
  }

  /** A hook has removed something from the result of a tool, before anybody else has seen it. */
  private redacted({ hook, payload, sessionId }: Extract<AgentEvent, { readonly type: "custom" }>): undefined {
    const { tool } = Object(payload) as { readonly tool?: unknown }
    const prefix = `tool ${sessionId} `
    const row = [...this.open].findLast(([key, { title }]) => key.startsWith(prefix) && title === tool)?.[1]
    this.totals.decisions++
    row?.decisions.push([hook, "wrapToolCall", "Transform", "a value in the result was replaced", "", 0, false])
    if (row !== undefined) row.state = "changed"
    return undefined
  }

  private readonly ended = new Map<string, Row>()

  private rowOf(key: string): Row | undefined {
    return this.ended.get(key)
  }

  private takeEarly(key: string): Array<DecisionCells> {
    const cells = this.early.get(key) ?? []
    this.early.delete(key)
    return cells
  }

  private begin(
    key: string,
    event: AgentEvent,
    kind: RowKind,
    title: string,
    { details, note }: { readonly note?: string; readonly details: ReadonlyArray<readonly [string, string]> }
  ): void {
    const early = this.takeEarly(key)
    const row = this.add(event, kind, title, early.length > 0 ? "changed" : "open", note ?? "", details, early)
    this.open.set(key, row)
  }

  private end(
    key: string,
    time: number,
    state: "good" | "bad",
    note: string,
    details: ReadonlyArray<readonly [string, string]>
  ): void {
    const row = this.open.get(key)
    if (row === undefined) return
    this.open.delete(key)
    this.ended.set(key, row)
    row.ms = Math.max(0, time - this.start - row.at)
    row.note = [row.note, note].filter(Boolean).join(", ")
    if (state === "bad" || row.state !== "changed") row.state = state
    row.details.push(...this.clean(details))
  }

  private add(
    event: AgentEvent,
    kind: RowKind,
    title: string,
    state: Row["state"],
    note = "",
    details: ReadonlyArray<readonly [string, string]> = [],
    decisions: Array<DecisionCells> = []
  ): Row {
    const row: Row = {
      kind,
      depth: event.agentPath.length - 1,
      agent: event.agent,
      at: event.time - this.start,
      title: this.text(title, 200),
      ...(note === "" ? {} : { note: this.text(note, 200) }),
      state,
      details: this.clean(details),
      decisions
    }
    this.rows.push(row)
    return row
  }

  private clean(details: ReadonlyArray<readonly [string, string]>): Array<readonly [string, string]> {
    return details.filter(([, text]) => text !== "").map(([label, text]) => [label, this.text(text)] as const)
  }

  private text(text: string, most = maxText): string {
    const shown = this.redact(text)
    return shown.length <= most ? shown : `${shown.slice(0, most).toWellFormed()}… (${shown.length} characters)`
  }

  private count(usage: Usage | undefined): void {
    const { totals } = this
    totals.inputTokens += usage?.inputTokens ?? 0
    totals.outputTokens += usage?.outputTokens ?? 0
    if (usage?.costUsd === undefined) totals.unpriced++
    else totals.usd = addUsd(totals.usd, usage.costUsd)
    if (totals.usd > 0 || totals.unpriced === 0) {
      totals.cost = `${dollars(totals.usd)}${totals.unpriced > 0 ? " and more" : ""}`
    }
  }
}
