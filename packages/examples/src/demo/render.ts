/** Turns events into lines for a terminal: one line for what the agent did, one for what each hook said about it. */
import type { AgentEvent } from "@belay/core/AgentEvent"
import { styleText } from "node:util"

type Style = "dim" | "bold" | "red" | "green" | "yellow" | "cyan" | "magenta"

/** What the renderer needs to know beside the events. */
export interface Options {
  readonly colour: boolean
  /** Writes without a line break. */
  readonly write: (text: string) => void
  /** Dollars spent so far, as text. */
  readonly cost: () => string
}

/** Control characters of foreign texts are shown, not obeyed. */
export const safe = (text: string): string =>
  // oxlint-disable-next-line no-control-regex -- these are the characters to make harmless
  text.replaceAll(/[\u0000-\u0009\u000B-\u001F\u007F-\u009F\u202A-\u202E\u2066-\u2069]/g, (char) =>
    `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`)

const short = (value: unknown, length = 90): string => {
  const text = safe(typeof value === "string" ? value : JSON.stringify(value) ?? "").replaceAll("\n", " ")
  return text.length > length ? `${text.slice(0, length - 3)}...` : text
}

/** Makes a listener that prints. */
export const renderer = ({ colour, cost, write }: Options) => {
  const paint = (style: Style, text: string) => colour ? styleText(style, text, { validateStream: false }) : text
  let streaming = false
  let spentIn = 0
  let spentOut = 0

  const line = (label: string, style: Style, text: string, aside = "") => {
    if (streaming) write("\n")
    streaming = false
    write(`  ${paint(style, label.padEnd(10))} ${text}${aside === "" ? "" : `  ${paint("dim", aside)}`}\n`)
  }

  return (event: AgentEvent): void => {
    switch (event.type) {
      case "turn-start":
        write(
          `\n${paint("bold", `turn ${event.turnNumber}`)}${event.resumed ? " (resumed)" : ""}  ${safe(event.message)}\n`
        )
        return
      case "llm-start":
        return line(
          "model",
          "cyan",
          `${event.provider} ${event.model ?? ""}`,
          `step ${event.stepNumber}${event.attempt > 1 ? `, attempt ${event.attempt}` : ""}`
        )
      case "text-delta":
        if (!streaming) write(`  ${paint("cyan", "text".padEnd(10))} `)
        streaming = true
        return write(safe(event.text).replaceAll("\n", `\n${" ".repeat(13)}`))
      case "retract":
        return line("retract", "yellow", `what was shown does not count: ${short(event.reason)}`)
      case "llm-end": {
        if (event.toolCalls.length > 0) {
          line(
            "calls",
            "cyan",
            event.toolCalls.map(({ args, name }) => `${safe(name)} ${short(args, 70)}`).join(", ")
          )
        }
        spentIn += event.usage?.inputTokens ?? 0
        spentOut += event.usage?.outputTokens ?? 0
        const tokens = event.usage === undefined
          ? "tokens unknown"
          : `${event.usage.inputTokens} in, ${event.usage.outputTokens} out`
        return line(
          "tokens",
          "dim",
          `${tokens}  (so far ${spentIn} in, ${spentOut} out, ${cost()})`,
          `${event.durationMs.toFixed(0)} ms`
        )
      }
      case "llm-error": {
        const then = event.decision.type === "fallback"
          ? `falling back to ${event.decision.provider ?? event.decision.model}`
          : event.decision.type === "retry"
          ? `trying again in ${event.decision.delayMs} ms`
          : "giving up"
        return line("failed", "red", `${event.provider}: ${event.error}, ${short(event.message)} -> ${then}`)
      }
      case "tool-start":
        return line("tool", "green", `${safe(event.call.name)} ${short(event.call.args)}`)
      case "tool-end":
        return event.result.ok
          ? line(
            "result",
            "green",
            short(event.result.output),
            `${event.elapsedMs.toFixed(1)} ms${event.executed ? "" : ", not executed"}`
          )
          : line("result", "red", short(event.result.error), `${event.elapsedMs.toFixed(1)} ms`)
      case "tool-denied":
        return line("denied", "red", `${safe(event.call.name)} by ${event.by}: ${short(event.reason)}`)
      case "hook":
        for (const hook of event.record.hooks) {
          const quiet = hook.answer === "Continue"
          // A streamed answer passes the hooks piece by piece: only what they changed is worth a line.
          if (hook.answer === "skipped" || (quiet && event.record.point === "onLlmDelta")) continue
          const why = [
            hook.why,
            hook.change?.diff,
            hook.shadow === true ? "shadow" : undefined,
            hook.again === true ? "asked again" : undefined
          ].filter((part) => part !== undefined)
          const text = `${event.record.point.padEnd(13)} ${hook.hook.padEnd(18)} ${
            paint(quiet ? "dim" : "magenta", hook.answer)
          }${why.length === 0 ? "" : ` ${short(why.join("; "), 110)}`}`
          line("hook", "magenta", text, `${hook.durationMs.toFixed(2)} ms`)
        }
        return
      case "hook-failed":
        return line(
          "hook",
          "red",
          `${event.hook} broke at ${event.point} (${event.kind}, ${
            event.policy === "open" ? "fail-open, went on" : event.policy
          }): ${short(event.message)}`
        )
      case "ask":
        return line(
          "ask",
          "yellow",
          `${event.ask.by}: ${short(event.ask.reason)} ${event.ask.tool} ${short(event.ask.args)}`
        )
      case "warning":
        return line("warning", "yellow", `${event.hook}: ${short(event.message)}`)
      case "notice":
        return line("notice", "yellow", `${event.hook}: ${short(event.message)}`)
      case "inject":
        return line("inject", "magenta", `${event.hook}: ${short(event.text)}`)
      case "compaction":
        return line("compacted", "yellow", `${event.removedCount} messages`)
      case "limit":
        return line("limit", "red", `${event.limit}: ${event.used} of ${event.max}`)
      default:
        return
    }
  }
}
