/**
 * The program of the page. It runs in a browser: `page` is written into the report as text, so it must not use anything
 * from outside of it.
 */
import type { ReportData } from "./reportData.ts"
import type { Row, RowKind } from "./reportRows.ts"

/** The part of the DOM that the page uses. */
interface Element {
  textContent: string | null
  className: string
  hidden: boolean
  value: string
  checked: boolean
  open: boolean
  type: string
  readonly style: { setProperty(name: string, value: string): void }
  append(...children: ReadonlyArray<Element | string>): void
  replaceChildren(...children: ReadonlyArray<Element | string>): void
  setAttribute(name: string, value: string): void
  addEventListener(type: string, listener: (event: { readonly key: string; preventDefault(): void }) => void): void
  focus(): void
}

interface Document {
  title: string
  readonly activeElement: { readonly tagName: string } | null
  createElement(tag: string): Element
  getElementById(id: string): Element
  addEventListener: Element["addEventListener"]
}

/** Shows the data. Calling the function that it returns shows newer data, with the same filters. */
export const page = (document: Document, first: ReportData): (data: ReportData) => void => {
  const names: Record<RowKind, string> = {
    session: "sessions",
    turn: "turns",
    model: "model calls",
    tool: "tools",
    decision: "decisions",
    approval: "approvals",
    history: "history",
    message: "messages"
  }
  const states: Record<Row["state"], string> = {
    good: "ok",
    bad: "failed or refused",
    changed: "changed by a hook",
    open: "open",
    plain: ""
  }
  let data = first
  const hiddenKinds = new Set<RowKind>()
  const opened = new Set<number>()
  let onlyNotable = false
  let words: ReadonlyArray<string> = []

  const make = (tag: string, className = "", ...children: ReadonlyArray<Element | string>): Element => {
    const element = document.createElement(tag)
    if (className !== "") element.className = className
    element.append(...children)
    return element
  }
  const time = (ms: number): string => {
    if (ms < 1_000) return `${Math.round(ms)} ms`
    if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`
    return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1_000)} s`
  }
  const texts = new Map<Row, string>()
  const textOf = (row: Row): string => {
    const known = texts.get(row)
    if (known !== undefined) return known
    const said = row.decisions.flatMap(([hook, point, answer, why, change]) => [hook, point, answer, why, change])
    const text = [row.title, row.note ?? "", row.agent, row.state, ...row.details.flat(), ...said].join(" ")
      .toLowerCase()
    texts.set(row, text)
    return text
  }
  const isShown = (row: Row): boolean => {
    if (hiddenKinds.has(row.kind)) return false
    if (onlyNotable && row.state !== "bad" && row.state !== "changed" && row.kind !== "approval") return false
    const text = words.length === 0 ? "" : textOf(row)
    return words.every((word) => text.includes(word))
  }

  const decisions = (row: Row): Element => {
    const head = make("tr", "")
    for (const label of ["hook", "point", "answer", "why", "change", "ms"]) head.append(make("th", "", label))
    const body = row.decisions.map(([hook, point, answer, why, change, ms, isTrial]) => {
      const cells = make("tr", /Reject|Abort|failed/.test(answer) ? "bad" : "changed")
      for (const text of [hook, point, isTrial ? `${answer} (shadow)` : answer, why, change, String(ms)]) {
        cells.append(make("td", "", text))
      }
      return cells
    })
    return make("div", "scroll", make("table", "", make("thead", "", head), make("tbody", "", ...body)))
  }
  const details = (row: Row): Element => {
    const list = make("dl")
    for (const [label, text] of row.details) list.append(make("dt", "", label), make("dd", "", make("pre", "", text)))
    return make("div", "details", ...(row.decisions.length > 0 ? [decisions(row)] : []), list)
  }
  const chips = (row: Row): ReadonlyArray<Element> =>
    row.decisions.map(([hook, , answer]) =>
      make("span", `chip ${/Reject|Abort|failed/.test(answer) ? "bad" : "changed"}`, `${hook}: ${answer}`)
    )
  const bar = (row: Row): Element => {
    const whole = Math.max(1, data.ms)
    const track = make("span", "track", make("span", `bar ${row.state}`))
    track.setAttribute("aria-hidden", "true")
    track.style.setProperty("--from", `${(row.at / whole) * 100}%`)
    track.style.setProperty("--size", `${((row.ms ?? 0) / whole) * 100}%`)
    return track
  }
  const line = (row: Row, index: number): Element => {
    const state = make("span", "state", states[row.state])
    const summary = make(
      "summary",
      "",
      make("span", "at", time(row.at)),
      make("span", "what", make("b", "", row.title), " ", make("span", "note", row.note ?? ""), ...chips(row)),
      state,
      make("span", "ms", row.ms === undefined ? "" : time(row.ms)),
      bar(row)
    )
    const box = make("details", "", summary)
    box.open = opened.has(index)
    // What is inside is made when it is opened: a long run has many rows.
    let isFilled = false
    const fill = () => {
      if (!isFilled) box.append(details(row))
      isFilled = true
    }
    if (box.open) fill()
    box.addEventListener("toggle", () => {
      if (box.open) {
        opened.add(index)
        fill()
      } else opened.delete(index)
    })
    const item = make("li", `${row.kind} ${row.state}`, box)
    item.style.setProperty("--depth", String(row.depth))
    return item
  }

  const list = document.getElementById("rows")
  const count = document.getElementById("count")
  /** A browser needs a second for some thousand rows. */
  const pageSize = 1_000
  let most = pageSize
  const showRows = () => {
    const found = data.rows.flatMap((row, index) => isShown(row) ? [index] : [])
    const shown = found.slice(0, most).map((index) => line(data.rows[index]!, index))
    if (found.length > most) {
      const button = make("button", "", `Show ${Math.min(pageSize, found.length - most)} more`)
      button.type = "button"
      button.addEventListener("click", () => {
        most += pageSize
        showRows()
      })
      shown.push(make("li", "more", button))
    }
    list.replaceChildren(...shown)
    count.textContent = `${Math.min(most, found.length)} of ${data.rows.length} shown`
  }

  const showTotals = () => {
    const { totals } = data
    const cards: ReadonlyArray<readonly [string, string]> = [
      ["time", time(data.ms)],
      ["turns", String(totals.turns)],
      ["model calls", String(totals.modelCalls)],
      ["tool calls", String(totals.toolCalls)],
      ["tokens", `${totals.inputTokens} in, ${totals.outputTokens} out`],
      ["cost", totals.cost],
      ["decisions", String(totals.decisions)],
      ["refused", String(totals.refused)],
      ["questions", String(totals.questions)],
      ["failures", String(totals.failures)]
    ]
    const boxes = cards.map(([label, value]) => make("div", "", make("dt", "", label), make("dd", "", value)))
    document.getElementById("totals").replaceChildren(...boxes)
    document.title = data.title
    document.getElementById("title").textContent = data.title
    document.getElementById("when").textContent = [
      data.startedAt === 0 ? "Nothing has been recorded yet" : new Date(data.startedAt).toLocaleString(),
      data.agents.join(", "),
      data.torn === undefined ? "" : `The recording is not complete: ${data.torn}`
    ].filter(Boolean).join(" · ")
  }

  const showFilters = () => {
    const kinds = [...new Set(data.rows.map(({ kind }) => kind))]
    const buttons = kinds.map((kind) => {
      const button = make("button", "", names[kind])
      button.type = "button"
      button.setAttribute("aria-pressed", String(!hiddenKinds.has(kind)))
      button.addEventListener("click", () => {
        if (!hiddenKinds.delete(kind)) hiddenKinds.add(kind)
        button.setAttribute("aria-pressed", String(!hiddenKinds.has(kind)))
        showRows()
      })
      return button
    })
    document.getElementById("kinds").replaceChildren(...buttons)
  }

  const search = document.getElementById("search")
  search.addEventListener("input", () => {
    most = pageSize
    words = search.value.toLowerCase().split(/\s+/).filter(Boolean)
    showRows()
  })
  const notable = document.getElementById("notable")
  notable.addEventListener("change", () => {
    onlyNotable = notable.checked
    showRows()
  })
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || document.activeElement?.tagName === "INPUT") return
    event.preventDefault()
    search.focus()
  })
  const show = (newer: ReportData) => {
    data = newer
    texts.clear()
    showTotals()
    showFilters()
    showRows()
  }
  show(first)
  return show
}
