/** The types of the Claude Agent SDK and of opencode survive the guard. Compiled, and not run. */
import { type Options, query } from "@anthropic-ai/claude-agent-sdk"
import { Guard } from "@belay/guard"
import * as ClaudeAgent from "@belay/guard/ClaudeAgent"
import * as OpenCode from "@belay/guard/OpenCode"
import type { Plugin } from "@opencode-ai/plugin"

const guard = Guard.make({ log: false })
const guarded = ClaudeAgent.make(guard)

const options = guarded.options({ model: "claude-sonnet-5", maxTurns: 3 })
export const { maxTurns }: { maxTurns: number } = options
export const ask = () => query({ prompt: "go", options })
export const typed: Options = guarded.options<Options>({ cwd: "/" })
// @ts-expect-error there is no such option of a query
export const wrong: Options = guarded.options<Options>({ folder: "/" })
// @ts-expect-error the number of turns is a number
export const alsoWrong: Options = guarded.options({ maxTurns: "3" })
// @ts-expect-error there is no such option
ClaudeAgent.make(guard, { approvers: "ada" })

export const BelayGuard: Plugin = OpenCode.make(guard)
// @ts-expect-error each conversation of opencode has an id already
OpenCode.make(guard, { id: "s" })
