/** Describes the events of Base Coat. */
import type { Event, Guide } from "../../engine/Guide.ts"

const coatEvent = (
  row: Omit<Event, "dialect" | "two" | "fields"> & { readonly fields?: ReadonlyArray<string> }
): Event => ({
  dialect: "basecoat",
  two: "passes, a warning",
  fields: [],
  ...row
})
const inject = ["action: \"injectContext\", additionalContext", "the model reads it"] as const

export const basecoat: Guide = {
  dialect: "basecoat",
  name: "Base Coat",
  files: "hooks.json and mcp.json",
  input: ["hook", "timestamp", "sessionId", "agent", "repository", "branch", "budget", "tool"],
  codes: [["0", "done; standard output is JSON and counts"], ["another", "passes, a warning"], [
    "timeout",
    "passes, a warning"
  ]],
  answers: [["warnings", "the developer reads them"], ["metadata", "is logged"]],
  timeout: 3,
  keys: ["command", "args", "tool", "priority", "kind", "timeout", "enabled"],
  groupKeys: [],
  events: [
    coatEvent({
      name: "SessionStart",
      occasion: "session-start",
      when: "A session begins.",
      may: "refuse the session, add context",
      answers: [["action: \"block\", reason", "the session does not start"], inject]
    }),
    coatEvent({
      name: "PreToolUse",
      occasion: "tool-call",
      when: "The model wants to call a tool.",
      may: "refuse the call, change its input",
      answers: [
        ["action: \"block\", reason", "the call is refused"],
        ["action: \"modify\", modifiedInput", "the tool is called with it"],
        inject
      ]
    }),
    coatEvent({
      name: "PostToolUse",
      occasion: "tool-result",
      when: "A tool gave a result, or failed.",
      may: "give feedback, change the result",
      answers: [
        ["action: \"block\", reason", "the model reads the reason beside the result"],
        ["action: \"modify\", modifiedOutput", "the model reads this instead"],
        inject
      ]
    }),
    coatEvent({
      name: "OnError",
      occasion: "tool-failure",
      when: "A tool, a model or a hook failed.",
      may: "change the error, add context",
      answers: [
        ["action: \"modify\", modifiedOutput", "replaces the error for the hooks after it and for the model"],
        inject
      ]
    }),
    coatEvent({
      name: "OnBudgetExceeded",
      occasion: "budget",
      when: "The window is nearly full.",
      may: "rotate the session",
      answers: [["action: \"block\", reason", "the session is rotated"], inject]
    }),
    coatEvent({
      name: "PreCompact",
      occasion: "compact",
      when: "The conversation is about to be compacted.",
      may: "skip the compaction",
      answers: [["action: \"block\"", "this compaction is skipped"]]
    }),
    coatEvent({
      name: "PostCompact",
      occasion: "compacted",
      when: "The conversation was compacted.",
      may: "add context",
      answers: [inject]
    }),
    coatEvent({ name: "SessionEnd", occasion: "session-end", when: "A session ends.", answers: [] })
  ],
  example: ({ name }) =>
    JSON.stringify({ version: 1, hooks: { [name]: [{ command: `python hooks/${name}.py`, priority: 20 }] } }, null, 2),
  script: ({ occasion }) => {
    const head = "import json, sys\n\nevent = json.load(sys.stdin)\n"
    return occasion === "tool-call"
      ? `${head}if "git push" in json.dumps(event):\n` +
        `    print(json.dumps({"action": "block", "reason": "ask before you push"}))\nelse:\n` +
        `    print(json.dumps({"action": "passThrough"}))\n`
      : `${head}print(json.dumps({"action": "injectContext", ` +
        `"additionalContext": ["Something that the model should know."]}))\n`
  }
}
