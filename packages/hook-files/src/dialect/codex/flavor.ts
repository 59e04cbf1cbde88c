/** Defines what Codex does differently from Claude Code. */
import { loginShell } from "../../process/internal/environment.ts"
import type { Flavor } from "../claude/input/flavor.ts"
import { readStrictly } from "./answer.ts"

export const codex: Flavor = {
  name: "codex",
  assistant: "Codex",
  timeout: 600,
  projectVariables: ["CLAUDE_PROJECT_DIR"],
  shownTool: (tool) => tool,
  shape: (payload) => payload,
  read: readStrictly,
  separator: "\n\n",
  runsTwinsOnce: false,
  shell: ({ command }) => ({ type: "command", command: loginShell(), args: ["-lc", command] }),
  pluginPrefixes: ["CLAUDE_", ""],
  // Codex writes files with patches, so `Write` and `Edit` also match its tool `apply_patch`.
  aliases: (tool) =>
    tool === "apply_patch" ? ["Write", "Edit"] : ["Write", "Edit", "MultiEdit"].includes(tool) ? ["apply_patch"] : [],
  inputFields: ({ sessionId, turnNumber }, model = "") => ({ turn_id: `${sessionId}-${turnNumber}`, model }),
  response: (_tool, _input, shown) => ({ shown, back: (output) => output }),
  blockReplacesResult: true,
  afterFailures: true,
  shortEvents: ["SessionEnd", "Interrupt"],
  noTranscript: null
}
