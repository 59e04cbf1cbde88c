/** Kodelet and Base Coat. */
import type { Event, System } from "./guide.ts"

const kodeletEvent = (row: Omit<Event, "dialect" | "two">): Event => ({
  dialect: "kodelet",
  two: "logged, blocks nothing",
  ...row
})

export const kodelet: System = {
  dialect: "kodelet",
  name: "Kodelet",
  files: ".kodelet/hooks/*, ~/.kodelet/hooks/*, and of plugins (executables; NAME.disable is skipped)",
  input: ["event", "conv_id", "cwd", "invoked_by", "recipe_name"],
  codes: [["0", "done; standard output is JSON and counts"], ["another", "logged, blocks nothing"], [
    "timeout",
    "no decision, a warning"
  ]],
  answers: [],
  timeout: 30,
  keys: [],
  groupKeys: [],
  events: [
    kodeletEvent({
      name: "before_tool_call",
      occasion: "tool-call",
      when: "The model wants to call a tool.",
      may: "refuse the call, change its input",
      fields: ["tool_name", "tool_input", "tool_user_id"],
      answers: [["blocked: true, reason", "the call is refused"], [
        "blocked: false, input",
        "the tool is called with it"
      ]]
    }),
    kodeletEvent({
      name: "after_tool_call",
      occasion: "tool-result",
      when: "A tool gave a result, or failed.",
      may: "change the result",
      fields: ["tool_name", "tool_input", "tool_output", "tool_user_id"],
      answers: [["output", "the model reads this instead"]]
    }),
    kodeletEvent({
      name: "user_message_send",
      occasion: "prompt",
      when: "The user said something.",
      may: "refuse the prompt",
      fields: ["message"],
      answers: [["blocked: true, reason", "the turn fails"]]
    }),
    kodeletEvent({
      name: "after_turn",
      occasion: "step",
      when: "A step is done.",
      may: "rewrite the history, run a recipe",
      fields: ["turn_number", "tools_used", "usage", "auto_compact_enabled", "auto_compact_threshold"],
      answers: [["result: \"mutate\", messages", "the history from now on"], [
        "result: \"callback\", callback",
        "a recipe runs"
      ]]
    }),
    kodeletEvent({
      name: "turn_end",
      occasion: "step",
      when: "A step is done.",
      fields: ["turn_number", "response"],
      answers: []
    }),
    kodeletEvent({
      name: "agent_stop",
      occasion: "stop",
      when: "The agent is about to stop.",
      may: "keep the agent going, rewrite the history, run a recipe",
      fields: ["messages", "usage", "invoked_recipe"],
      answers: [["follow_up_messages", "the agent goes on with them"], [
        "result: \"mutate\" or \"callback\"",
        "as after a step"
      ]]
    })
  ],
  example: ({ name }) => `.kodelet/hooks/${name}   (an executable: no other file names it)`,
  script: ({ name, occasion }) => {
    const answer = occasion === "tool-call" || occasion === "prompt"
      ? "{\"blocked\": true, \"reason\": \"not here\"}"
      : occasion === "stop"
      ? "{\"follow_up_messages\": [\"Run the tests.\"]}"
      : "{}"
    return `#!/bin/bash\ncase "$1" in\n  hook) echo ${name} ;;\n  run) cat > /dev/null; echo '${answer}' ;;\nesac\n`
  }
}

const coatEvent = (
  row: Omit<Event, "dialect" | "two" | "fields"> & { readonly fields?: ReadonlyArray<string> }
): Event => ({
  dialect: "basecoat",
  two: "passes, a warning",
  fields: [],
  ...row
})
const inject = ["action: \"injectContext\", additionalContext", "the model reads it"] as const

export const basecoat: System = {
  dialect: "basecoat",
  name: "Base Coat",
  files: "hooks.json and mcp.json",
  input: ["hook", "timestamp", "sessionId", "agent", "repository", "branch", "budget", "tool"],
  codes: [["0", "done; standard output is JSON and counts"], ["another", "passes, a warning"], [
    "timeout",
    "passes, a warning"
  ]],
  answers: [["warnings", "are told"], ["metadata", "is told"]],
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
      answers: [["action: \"modify\", modifiedOutput", "the error that everybody after it is told"], inject]
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
      ? `${head}if "git push" in json.dumps(event):\n    print(json.dumps({"action": "block", "reason": "ask before you push"}))\nelse:\n    print(json.dumps({"action": "passThrough"}))\n`
      : `${head}print(json.dumps({"action": "injectContext", "additionalContext": ["Something that the model should know."]}))\n`
  }
}
