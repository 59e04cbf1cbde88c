/** What the pages have around their content. Each is one file, without anything from elsewhere. */
import { style } from "./style.ts"

/** A page: its content, and the program that it runs with the browser and the path of the server. */
export interface Shell {
  readonly title: string
  readonly body: string
  readonly program: (browser: never, api: string) => void
  readonly api: string
  /** More style. */
  readonly style?: string
}

/** Answers with a page. */
export const pageResponse = ({ api, body, program, style: more = "", title }: Shell): Response =>
  new Response(
    `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, interactive-widget=resizes-content">
<link rel="icon" href="data:,">
<title>${escape(title)}</title>
<style>${style}${more}</style>
</head>
<body>
${body}
<noscript>This page needs JavaScript. It loads nothing from other servers.</noscript>
<script>
const program = ${String(program)}
program(window, ${JSON.stringify(api).replaceAll("<", "\\u003c")})
</script>
</body>
</html>
`,
    {
      headers: {
        "content-type": "text/html; charset=utf-8",
        "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; " +
          "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff",
        "cache-control": "no-cache"
      }
    }
  )

export const escape = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll("\"", "&quot;")
