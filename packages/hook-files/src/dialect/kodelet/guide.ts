/** Describes the events of Kodelet. */
import type { Event, Guide } from "../../engine/Guide.ts"

const kodeletEvent = (row: Omit<Event, "dialect" | "two">): Event => ({
  dialect: "kodelet",
  two: "logged, blocks nothing",
  ...row
})

export const kodelet: Guide = {
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
      when: "The user sent a prompt.",
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
      answers: [["follow_up_messages", "the agent continues with them"], [
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
