/** Describes the events of GitHub Copilot. */
import type { Event, Guide } from "../../engine/Guide.ts"

const tool = ["toolName", "toolArgs"]
const warned = "a warning"

const event = (row: Omit<Event, "dialect" | "two"> & { readonly two?: string }): Event => ({
  dialect: "copilot",
  two: warned,
  ...row
})

const events: ReadonlyArray<Event> = [
  event({
    name: "sessionStart",
    occasion: "session-start",
    when: "A session begins or is resumed.",
    may: "add context",
    fields: ["source"],
    answers: [["additionalContext", "the session begins with it"]]
  }),
  event({ name: "sessionEnd", occasion: "session-end", when: "A session ends.", fields: ["reason"], answers: [] }),
  event({
    name: "userPromptSubmitted",
    others: ["UserPromptSubmit"],
    occasion: "prompt",
    when: "The user sent a prompt.",
    may: "change the prompt, add context",
    fields: ["prompt"],
    answers: [["modifiedPrompt", "replaces the prompt"], ["additionalContext", "the model reads it"]]
  }),
  event({
    name: "userPromptTransformed",
    occasion: "prompt",
    when: "The prompt is final.",
    may: "change what the model reads",
    fields: ["prompt", "transformedPrompt"],
    answers: [["modifiedTransformedPrompt", "the model reads it instead of the prompt"]]
  }),
  event({
    name: "preToolUse",
    occasion: "tool-call",
    when: "The model wants to call a tool.",
    may: "refuse the call, change its input, ask a person",
    matcher: "toolName",
    fields: tool,
    two: "the call is refused, as with every code but 0",
    answers: [
      ["permissionDecision: \"deny\", permissionDecisionReason", "the call is refused"],
      ["permissionDecision: \"ask\"", "a person decides"],
      ["modifiedArgs", "the tool is called with them"]
    ]
  }),
  event({
    name: "preMcpToolCall",
    occasion: "tool-call",
    when: "The model wants to call a tool of an MCP server.",
    matcher: "toolName",
    fields: tool,
    answers: []
  }),
  event({
    name: "postToolUse",
    occasion: "tool-result",
    when: "A tool gave a result.",
    may: "change the result, add context",
    matcher: "toolName",
    fields: [...tool, "toolResult"],
    answers: [["modifiedResult", "the model reads this instead"], [
      "additionalContext",
      "the model reads it beside the result"
    ]]
  }),
  event({
    name: "postToolUseFailure",
    occasion: "tool-failure",
    when: "A tool failed.",
    may: "add context",
    matcher: "toolName",
    fields: [...tool, "error"],
    two: "the model reads what it wrote, as advice",
    answers: [["additionalContext", "the model reads it"]]
  }),
  event({
    name: "agentStop",
    others: ["Stop"],
    occasion: "stop",
    when: "The agent is about to stop.",
    may: "keep the agent going",
    fields: ["stopReason", "transcriptPath"],
    answers: [["decision: \"block\", reason", "the agent continues with the reason, at most 8 times in a row"]]
  }),
  event({
    name: "subagentStart",
    occasion: "subagent-start",
    when: "A sub-agent begins.",
    may: "add context",
    matcher: "agentName",
    fields: ["agentName"],
    answers: [["additionalContext", "the sub-agent reads it"]]
  }),
  event({
    name: "subagentStop",
    occasion: "subagent-stop",
    when: "A sub-agent is about to stop.",
    may: "keep the sub-agent going",
    matcher: "agentName",
    fields: ["agentName"],
    answers: [["decision: \"block\", reason", "the sub-agent continues"]]
  }),
  event({
    name: "errorOccurred",
    occasion: "model-failure",
    when: "A model, a tool or the turn failed.",
    may: "ask again, skip, or end the turn",
    fields: ["error", "errorContext", "recoverable"],
    answers: [["errorHandling: \"retry\", \"skip\" or \"abort\"", "what happens next"]]
  }),
  event({
    name: "preCompact",
    occasion: "compact",
    when: "The conversation is about to be compacted.",
    matcher: "trigger",
    values: ["manual", "auto"],
    fields: ["trigger"],
    answers: []
  }),
  event({
    name: "permissionRequest",
    occasion: "permission",
    when: "The policy asks for approval of a call.",
    may: "allow or deny what the policy asks about",
    matcher: "toolName",
    fields: tool,
    two: "the call is denied",
    answers: [["behavior: \"allow\" or \"deny\"", "the answer, with message; interrupt ends the turn"]]
  }),
  event({
    name: "notification",
    occasion: "signal",
    when: "The host says that the user is notified of something.",
    matcher: "notification_type",
    may: "add context",
    fields: ["message", "title", "notification_type"],
    answers: [["additionalContext", "the model reads it"]]
  })
]

export const copilot: Guide = {
  dialect: "copilot",
  name: "GitHub Copilot",
  files: "~/.copilot/hooks/*.json, ~/.copilot/settings.json, .github/hooks/*.json, .github/copilot/settings.json",
  input: [
    "sessionId",
    "timestamp",
    "cwd",
    "in Pascal case events: session_id, timestamp, cwd, hook_event_name, and Claude's fields"
  ],
  codes: [
    ["0", "success; JSON is the answer, and lines that report progress before it are not part of it"],
    [
      "2",
      "denies at preToolUse and permissionRequest; advice for the model at postToolUseFailure; elsewhere a warning"
    ],
    ["another, a signal", "denies at preToolUse; elsewhere a warning"],
    ["timeout", "no decision, a warning, at preToolUse too"]
  ],
  answers: [],
  timeout: 30,
  keys: [
    "type",
    "matcher",
    "bash",
    "powershell",
    "command",
    "exec",
    "args",
    "cwd",
    "env",
    "timeoutSec",
    "timeout",
    "comment",
    "prompt",
    "url",
    "headers",
    "allowedEnvVars",
    "hooks"
  ],
  groupKeys: ["matcher", "hooks"],
  events,
  example: ({ matcher, name }) =>
    JSON.stringify(
      {
        version: 1,
        hooks: {
          [name]: [{
            type: "command",
            ...(matcher === "toolName" ? { matcher: "bash" } : {}),
            bash: `./.github/hooks/${name}.sh`,
            timeoutSec: 10
          }]
        }
      },
      null,
      2
    ),
  script: ({ may, occasion }) =>
    occasion === "tool-call"
      ? "#!/bin/bash\nif jq -r '.toolArgs | fromjson | .command // empty' | grep -q 'git push'; then\n" +
        `  echo '{"permissionDecision":"deny","permissionDecisionReason":"ask before you push"}'\nfi\nexit 0\n`
      : occasion === "stop" || occasion === "subagent-stop"
      ? "#!/bin/bash\ncat > /dev/null\n" +
        `npm test > /dev/null 2>&1 || echo '{"decision":"block","reason":"the tests fail"}'\n`
      : may?.includes("add context") === true
      ? `#!/bin/bash\ncat > /dev/null\necho '{"additionalContext":"Something that the model should know."}'\n`
      : `#!/bin/bash\ncat >> /tmp/copilot-events.log\n`
}
