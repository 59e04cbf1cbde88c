/**
 * Shows a recording as one HTML page: what happened, when, what hooks decided and why, and what it cost. The page works
 * without a network and loads nothing.
 *
 * @since 0.1.0
 */
import { checked } from "@belay/core/ArgumentCheck"
import { redactText } from "@belay/hooks/Secrets"
import { page } from "./internal/page.ts"
import { reportData } from "./internal/reportData.ts"
import { style } from "./internal/style.ts"
import type { Recording } from "./Recording.ts"

/** Options of `render`. @category models @since 0.1.0 */
export interface Options {
  /** The heading of the page. Default `Report`. */
  readonly title?: string
  /** Changes every text before it is shown. Default: keys and tokens are replaced, as by `Secrets.redactText`. */
  readonly redact?: (text: string) => string
  /**
   * An address from which the page gets newer data as server-sent events, each of which is the JSON of `data`. Default:
   * the page does not change.
   */
  readonly live?: string
}

/** Makes the page. @category rendering @since 0.1.0 */
export const render = checked(
  "Report.render",
  ["recording", "options"],
  (recording: Recording, options: Options = {}): string => {
    const { live } = options
    const follow = live === undefined
      ? ""
      : `new EventSource(${embed(live)}).onmessage = ({ data }) => show(JSON.parse(data))`
    return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
  content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline';
  connect-src 'self'; img-src data:">
<link rel="icon" href="data:,">
<title>Report</title>
<style>${style}</style>
</head>
<body>
<main>
<h1 id="title"></h1>
<p id="when"></p>
<dl id="totals" aria-label="Totals"></dl>
<div class="tools" role="search">
<input id="search" type="search" placeholder="Search (press /)" aria-label="Search">
<label><input id="notable" type="checkbox"> only changes, refusals and questions</label>
<div id="kinds" role="group" aria-label="What is shown"></div>
<span id="count" role="status"></span>
</div>
<ol id="rows" aria-label="What happened"></ol>
<noscript>This page needs JavaScript. It loads nothing from the network.</noscript>
</main>
<script>
const page = ${String(page)}
const show = page(document, ${embed(data(recording, options))})
${follow}
</script>
</body>
</html>
`
  }
)

/** What the page shows, as JSON. @category rendering @since 0.1.0 */
export const data = checked(
  "Report.data",
  ["recording", "recording"],
  (recording: Recording, { redact = redactText, title = "Report" }: Options = {}): object =>
    reportData(recording, title, redact)
)

/** JSON inside a script: no text of the recording can end the script. */
const embed = (value: unknown): string =>
  JSON.stringify(value).replaceAll("<", "\\u003c").replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029")
