/** The first page of the site. */
import { readFileSync } from "node:fs"

export const home = (): string => {
  const program = readFileSync("packages/examples/src/hello.ts", "utf8").trimEnd()
  return `---
layout: home
hero:
  name: Belay
  text: Every step of your agent is on a rope
  tagline: An agent SDK for TypeScript. Typed hooks run around every model call, tool call and turn, and can change it, refuse it, answer for it, or ask a person.
  actions:
    - theme: brand
      text: Start in ten minutes
      link: /start
    - theme: alt
      text: Concepts
      link: /concepts
    - theme: alt
      text: Coming from another SDK
      link: /coming-from
features:
  - title: 37 ready-made hooks
    details: Approval, permission rules, budgets, loop detection, retries, redaction, prompt injection, egress.
    link: /catalogue/
  - title: Survives kill -9
    details: Sessions are saved before and after each tool. A question can wait for days, and another process continues.
    link: /sessions
  - title: See what happened
    details: A run is one HTML page with every decision, before and after, who and why. Try a new hook on everything that was recorded.
    link: /inspect
  - title: Your hook files run
    details: Hooks and permission rules of Claude Code, Codex, Copilot, Gemini CLI and others run unmodified, once you trust them.
    link: /hooks-as-data
  - title: Any model
    details: OpenAI-compatible endpoints, models of the AI SDK and of Effect, with backups and prices.
    link: /providers
  - title: Tested like this
    details: Scripted models, virtual clocks and laws for hooks. Every program on this site compiles, and many of them run in the tests.
    link: /testing
---

\`\`\`ts
${program}
\`\`\`

The tests run this program. It needs \`OPENAI_API_KEY\` and \`OPENAI_MODEL\`; [Start](./start.md#2-a-model) shows how to begin without a key.

## What it looks like

A run as one HTML page, which \`belay inspect\` writes: every decision, before and after, who and why.

![A report: the timeline of a run, with a refused mail, a denied push and a question to a person.](/images/report.png)
`
}
