/**
 * Shows the result of a backtest as one HTML page. The page works without a network and loads nothing.
 *
 * @since 0.1.0
 */
import { checked } from "@belay/core/ArgumentCheck"
import { redactText } from "@belay/hooks/Secrets"
import { style } from "./internal/style.ts"

/** A finding of `Backtest.run` of `@belay/testing`. @category models @since 0.1.0 */
export interface Finding {
  readonly session: string
  readonly turn: number
  readonly step: number
  readonly point: string
  readonly subject?: string
  readonly agent: string
  readonly answer: string
  readonly by?: string
  readonly reason?: string
  readonly recorded: string
  readonly kind: "stricter" | "looser" | "changes" | "same" | "fails"
}

/** The result of `Backtest.run`, and the expectations that do not hold. @category models @since 0.1.0 */
export interface Result {
  readonly sessions: number
  readonly inputs: number
  readonly findings: ReadonlyArray<Finding>
  readonly counts: { readonly [K in Finding["kind"]]: number }
  readonly stricterShare: number
  /** What `Backtest.unmet` returns. Default: none. */
  readonly unmet?: ReadonlyArray<{ readonly expectation: object; readonly found: ReadonlyArray<string> }>
}

/** Options of `render`. @category models @since 0.1.0 */
export interface Options {
  /** The heading of the page. Default `Backtest`. */
  readonly title?: string
  /** Changes every text before it is shown. Default: keys and tokens are replaced, as by `Secrets.redactText`. */
  readonly redact?: (text: string) => string
  /** How many findings of each kind are shown. The counts are of all. Default 500. */
  readonly shown?: number
}

const kinds: ReadonlyArray<readonly [Finding["kind"], title: string, className: string]> = [
  ["fails", "A hook failed", "bad"],
  ["stricter", "Would be stopped now, and were not", "bad"],
  ["looser", "Were stopped by a hook of the same name, and would not be now", "changed"],
  ["changes", "Would be changed", "changed"],
  ["same", "Were stopped then too", "plain"]
]

/** Makes the page. @category rendering @since 0.1.0 */
export const render = checked("BacktestReport.render", ["result", "recording"], (
  result: Result,
  { redact = redactText, shown = 500, title = "Backtest" }: Options = {}
): string => {
  const { counts, findings, inputs, sessions, stricterShare, unmet = [] } = result
  const safe = (text: string): string => escape(redact(text))
  const card = (label: string, value: string) => `<div><dt>${escape(label)}</dt><dd>${escape(value)}</dd></div>`
  const sections = kinds.map(([kind, heading, className]) => {
    const own = findings.filter((one) => one.kind === kind)
    return own.length === 0
      ? ""
      : section(`${heading} (${own.length})`, table(own, className, shown, safe), kind !== "same")
  })
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
  content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline';
  img-src data:">
<link rel="icon" href="data:,">
<title>${safe(title)}</title>
<style>${style}
section { margin: 1rem 0 } h2 { font-size: 1.05rem; margin: .3rem 0; display: inline } table { width: 100% }
section > details > summary { display: block } .share {
  height: .7rem; margin-bottom: .7rem; border-radius: 3px; background: var(--panel) }
.share > span { display: block; height: 100%; min-width: 2px; border-radius: 3px; background: var(--bad) }
</style>
</head>
<body>
<main>
<h1>${safe(title)}</h1>
<p>${inputs} events of ${sessions} sessions were given to the hooks again. ${
    percent(stricterShare)
  } would be stopped now and were not then.</p>
<div class="share" role="img" aria-label="${percent(stricterShare)} would be stopped now"><span style="width: ${
    percent(stricterShare)
  }"></span></div>
<dl id="totals" aria-label="Totals">
${
    [
      card("sessions", String(sessions)),
      card("events", String(inputs)),
      card("stopped now, not then", String(counts.stricter)),
      card("stopped then, not now", String(counts.looser)),
      card("changed", String(counts.changes)),
      card("stopped both times", String(counts.same)),
      card("failures of hooks", String(counts.fails))
    ].join("\n")
  }
</dl>
<div class="tools" role="search"><input id="search" type="search" placeholder="Search (press /)" aria-label="Search">
<span id="count" role="status"></span></div>
${unmet.length === 0 ? "" : section(`Expectations that do not hold (${unmet.length})`, unmetTable(unmet, safe), true)}
${findings.length === 0 ? "" : section("By hook and point", summaryTable(findings, safe), true)}
${sections.join("\n")}
${findings.length === 0 ? "<p>The hooks would have stopped and changed nothing.</p>" : ""}
</main>
<script>
const search = document.getElementById("search")
const rows = [...document.querySelectorAll("tbody.findings tr")]
const texts = rows.map((row) => row.textContent.toLowerCase())
const show = () => {
  const words = search.value.toLowerCase().split(/\\s+/)
  let shown = 0
  rows.forEach((row, index) => {
    row.hidden = !words.every((word) => texts[index].includes(word))
    if (!row.hidden) shown++
  })
  document.getElementById("count").textContent = shown + " of " + rows.length + " shown"
}
search.addEventListener("input", show)
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || document.activeElement === search) return
  event.preventDefault()
  search.focus()
})
show()
</script>
</body>
</html>
`
})

const section = (heading: string, content: string, isOpen: boolean): string =>
  `<section><details${isOpen ? " open" : ""}><summary><h2>${escape(heading)}</h2></summary>
<div class="scroll">${content}</div></details></section>`

const tableOf = (
  labels: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<string>>,
  attributes: { readonly body?: string; readonly row?: string } = {}
): string => {
  const { body = "", row = "" } = attributes
  const head = labels.map((label) => `<th scope="col">${escape(label)}</th>`).join("")
  const lines = rows.map((cells) => `<tr class="${row}">${cells.map((cell) => `<td>${cell}</td>`).join("")}</tr>`)
  return `<table><thead><tr>${head}</tr></thead><tbody class="${body}">${lines.join("\n")}</tbody></table>`
}

type Safe = (text: string) => string

const table = (findings: ReadonlyArray<Finding>, className: string, shown: number, safe: Safe): string => {
  const rows = findings.slice(0, shown).map((
    { agent, answer, by = "", point, reason = "", recorded, session, step, subject = "", turn }
  ) => [session, `${turn}.${step}`, `${answer} (was ${recorded})`, reason, `${point} ${subject}`, by, agent].map(safe))
  const rest = findings.length - rows.length
  const labels = ["session", "turn.step", "answer", "why", "where", "hook", "agent"]
  return tableOf(labels, rows, { body: "findings", row: className }) +
    (rest > 0 ? `<p>${rest} more are not shown.</p>` : "")
}

/** How many findings of each kind each hook has at each point. */
const summaryTable = (findings: ReadonlyArray<Finding>, safe: Safe): string => {
  const counts = new Map<string, Map<Finding["kind"], number>>()
  for (const { by = "no hook", kind, point, subject = "" } of findings) {
    const where = JSON.stringify([by, point, subject])
    const own = counts.get(where) ?? new Map<Finding["kind"], number>()
    counts.set(where, own.set(kind, (own.get(kind) ?? 0) + 1))
  }
  const total = (own: ReadonlyMap<Finding["kind"], number>) => [...own.values()].reduce((sum, count) => sum + count, 0)
  const rows = [...counts].toSorted(([, one], [, other]) => total(other) - total(one)).map(([where, own]) => {
    const names: ReadonlyArray<string> = JSON.parse(where)
    return [...names.map(safe), ...kinds.map(([kind]) => String(own.get(kind) ?? 0))]
  })
  return tableOf(["hook", "point", "tool", ...kinds.map(([kind]) => kind)], rows)
}

const unmetTable = (unmet: NonNullable<Result["unmet"]>, safe: Safe): string =>
  tableOf(
    ["expected", "found"],
    unmet.map(({ expectation, found }) => [safe(JSON.stringify(expectation)), safe(found.join(", "))])
  )

const percent = (share: number): string => `${(share * 100).toFixed(2).replace(/\.?0+$/, "")}%`

const escape = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll("\"", "&quot;")
