/** Describes the events of Gemini CLI. */
import type { Event, Guide } from "../../engine/Guide.ts"

const refused = "denies; standard error is the reason"
/**
 * Makes the description of an event. If the event can be denied, a hook can also end the turn. Every event except
 * `BeforeToolSelection` can show a message to the user.
 */
const event = (row: Omit<Event, "dialect" | "two"> & { readonly two?: string }): Event => ({
  dialect: "gemini",
  two: "a warning",
  ...row,
  answers: [
    ...row.answers,
    ...(row.two === refused
      ? [
        [
          "continue: false, stopReason",
          row.occasion === "prompt" ? "the turn ends, what the user said is kept" : "the turn ends"
        ] as const
      ]
      : []),
    ...(row.name === "BeforeToolSelection" ? [] : [["systemMessage", "the user reads it"] as const])
  ]
})

const events: ReadonlyArray<Event> = [
  event({
    name: "SessionStart",
    occasion: "session-start",
    when: "A session begins or is resumed.",
    may: "add context",
    matcher: "source",
    values: ["startup", "resume", "clear"],
    fields: ["source"],
    answers: [["hookSpecificOutput.additionalContext", "the session begins with it"]]
  }),
  event({
    name: "SessionEnd",
    occasion: "session-end",
    when: "A session ends.",
    matcher: "reason",
    values: ["exit", "clear", "logout", "prompt_input_exit", "other"],
    fields: ["reason"],
    answers: []
  }),
  event({
    name: "BeforeAgent",
    occasion: "prompt",
    when: "The user sent a prompt.",
    may: "refuse the prompt, add context",
    fields: ["prompt"],
    two: refused,
    answers: [["decision: \"deny\", reason", "the turn fails"], [
      "hookSpecificOutput.additionalContext",
      "the model reads it"
    ]]
  }),
  event({
    name: "AfterAgent",
    occasion: "stop",
    when: "The agent is about to stop.",
    may: "keep the agent going",
    fields: ["prompt", "prompt_response", "stop_hook_active"],
    two: refused,
    answers: [["decision: \"deny\", reason", "the agent continues with the reason as its prompt"], [
      "hookSpecificOutput.clearContext",
      "the history is forgotten"
    ]]
  }),
  event({
    name: "BeforeModel",
    occasion: "model-request",
    when: "A model is about to be asked.",
    may: "change the request, answer for the model, refuse",
    fields: ["llm_request"],
    two: refused,
    answers: [
      ["hookSpecificOutput.llm_request", "is merged into the request"],
      ["hookSpecificOutput.llm_response", "is the answer, and no model is asked"],
      ["decision: \"deny\"", "the turn fails"]
    ]
  }),
  event({
    name: "BeforeToolSelection",
    occasion: "model-request",
    when: "The tools for a request are chosen.",
    may: "choose the tools",
    fields: ["llm_request"],
    answers: [["hookSpecificOutput.toolConfig", "mode NONE: no tools; allowedFunctionNames: only these"]]
  }),
  event({
    name: "AfterModel",
    occasion: "model-response",
    when: "A model answered.",
    may: "change or refuse the answer",
    fields: ["llm_request", "llm_response"],
    two: refused,
    answers: [["hookSpecificOutput.llm_response", "replaces the answer"], ["decision: \"deny\"", "the turn fails"]]
  }),
  event({
    name: "BeforeTool",
    occasion: "tool-call",
    when: "The model wants to call a tool.",
    may: "refuse the call, change its input, ask a person",
    matcher: "tool_name",
    fields: ["tool_name", "tool_input"],
    two: refused,
    answers: [
      ["decision: \"deny\", reason", "the call is refused"],
      ["decision: \"ask\"", "a person decides"],
      ["hookSpecificOutput.tool_input", "is merged into the input"]
    ]
  }),
  event({
    name: "AfterTool",
    occasion: "tool-result",
    when: "A tool gave a result, or failed.",
    may: "change the result, call another tool",
    matcher: "tool_name",
    fields: ["tool_name", "tool_input", "tool_response"],
    two: refused,
    answers: [
      ["decision: \"deny\", reason", "the reason replaces the result"],
      ["hookSpecificOutput.additionalContext", "the model reads it beside the result"],
      ["hookSpecificOutput.tailToolCallRequest", "another tool is called, and its result replaces this one"]
    ]
  }),
  event({
    name: "PreCompress",
    occasion: "compact",
    when: "The conversation is about to be compacted.",
    matcher: "trigger",
    values: ["manual", "auto"],
    fields: ["trigger"],
    answers: []
  }),
  event({
    name: "Notification",
    occasion: "signal",
    when: "The host says that the user is notified of something.",
    matcher: "notification_type",
    fields: ["notification_type", "message", "details"],
    answers: []
  })
]

export const gemini: Guide = {
  dialect: "gemini",
  name: "Gemini CLI",
  files: "~/.gemini/settings.json, ~/.gemini/extensions/*/hooks/hooks.json, .gemini/settings.json",
  input: ["session_id", "transcript_path", "cwd", "hook_event_name", "timestamp"],
  codes: [
    ["any, with JSON", "the JSON decides; it is read from standard error if standard output is empty"],
    ["0 with a text", "a message for the user"],
    ["1 with a text", "a warning"],
    ["2", "denies; standard error is the reason"],
    ["another with a text", "denies; the text is the reason"],
    ["timeout, signal", "no decision, a warning"]
  ],
  answers: [],
  timeout: 60,
  keys: ["type", "command", "name", "timeout", "description", "env"],
  groupKeys: ["matcher", "hooks", "sequential"],
  events,
  example: ({ matcher, name }) =>
    JSON.stringify(
      {
        hooks: {
          [name]: [{
            ...(matcher === "tool_name" ? { matcher: "run_shell_command" } : {}),
            hooks: [{ type: "command", command: `$GEMINI_PROJECT_DIR/.gemini/hooks/${name}.py`, timeout: 10_000 }]
          }]
        }
      },
      null,
      2
    ),
  script: ({ name, occasion }) => {
    const head = "#!/usr/bin/env python3\nimport json, sys\n\nevent = json.load(sys.stdin)\n"
    return occasion === "tool-call"
      ? `${head}if "git push" in event["tool_input"].get("command", ""):\n` +
        `    print(json.dumps({"decision": "deny", "reason": "ask before you push"}))\n`
      : occasion === "stop"
      ? `${head}if not event["stop_hook_active"] and "done" not in event["prompt_response"]:\n` +
        `    print(json.dumps({"decision": "deny", "reason": "say what is done"}))\n`
      : `${head}print(json.dumps({"hookSpecificOutput": {"hookEventName": "${name}", ` +
        `"additionalContext": "Something that the model should know."}}))\n`
  }
}
