/** Shows a run on a terminal: one line for each thing that happened. Hooks that changed nothing are left out. */
import type { AgentEvent } from "@belay/core/AgentEvent"
import { plain, type Screen, styleOf } from "../screen.ts"

interface Options {
  readonly screen: Screen
  /** Whether every model call, result and decision is shown. */
  readonly isVerbose: boolean
  /** What was spent so far, as text. */
  readonly cost: () => string
  readonly write: (line: string) => void
}

const quiet: ReadonlySet<string> = new Set(["Continue", "skipped"])

export const makeShow = ({ cost, isVerbose, screen, write }: Options) => {
  const { bold, cyan, dim, green, red, yellow } = styleOf(screen)
  const short = (value: unknown, length = Math.max(30, screen.columns - 40)): string => {
    const text = plain(typeof value === "string" ? value : JSON.stringify(value) ?? "")
    return text.length > length ? `${text.slice(0, length - 1)}…` : text
  }
  const line = (mark: string, text: string, aside = "") =>
    write(`  ${mark} ${text}${aside === "" ? "" : `  ${dim(aside)}`}`)
  const call = ({ args, name }: { readonly name: string; readonly args: unknown }) =>
    `${bold(plain(name))} ${short(Object.values(Object(args))[0] ?? "", 60)}`.trim()
  const decision = (
    { answer, change, hook, why }: Extract<AgentEvent, { readonly type: "hook" }>["record"]["hooks"][number],
    point: string
  ): void => {
    const isStop = /Reject|Abort|failed/.test(answer)
    const paint = quiet.has(answer) ? dim : isStop ? red : yellow
    const text = [why, change?.diff].filter(Boolean).join("; ")
    line(" ", `${paint(`${hook}: ${answer}`)} ${dim(`at ${point}`)} ${short(text)}`)
  }
  /** Calls that were refused: their results say the same again. */
  const refused = new Set<string>()

  return (event: AgentEvent): void => {
    switch (event.type) {
      case "llm-start":
        return isVerbose ? line(cyan("→"), `model ${plain(event.provider)} ${plain(event.model ?? "")}`) : undefined
      case "llm-end":
        return isVerbose
          ? line(cyan("←"), `${event.finishReason}`, `${Math.round(event.durationMs)} ms, ${cost()}`)
          : undefined
      case "llm-error": {
        const { decision } = event
        const then = decision.type === "fallback"
          ? `${decision.provider ?? decision.model} answers instead`
          : decision.type === "retry"
          ? "it is tried again"
          : "the turn fails"
        return line(yellow("↻"), `${bold(plain(event.provider))} ${event.error}: ${then}`)
      }
      case "tool-denied":
        refused.add(event.call.id)
        line(red("✗"), call(event.call))
        return write(`      ${red(`refused by ${plain(event.by)}`)}: ${plain(event.reason)}`)
      case "tool-end":
        if (refused.has(event.call.id)) return
        line(
          event.result.ok ? green("✓") : red("✗"),
          call(event.call),
          event.result.ok ? cost() : short(event.result.error)
        )
        return isVerbose && event.result.ok ? line(" ", dim(short(event.result.output))) : undefined
      case "hook": {
        const { hooks, point } = event.record
        // A streamed answer passes the hooks piece by piece.
        if (point === "onLlmDelta" || (!isVerbose && point === "onLlmError")) return
        const shown = hooks.filter(({ answer }) => isVerbose || !quiet.has(answer))
        // Refusals and questions have a line of their own.
        for (const one of shown) if (isVerbose || !/Reject|Ask/.test(one.answer)) decision(one, point)
        return
      }
      case "hook-failed":
        return line(red("!"), `hook ${plain(event.hook)} failed at ${event.point}: ${short(event.message)}`)
      case "warning":
        return line(yellow("!"), `${plain(event.hook)}: ${short(event.message, 200)}`)
      case "limit":
        return line(red("!"), `limit reached: ${event.limit}, ${event.used} of ${event.max}`)
      default:
        return undefined
    }
  }
}
