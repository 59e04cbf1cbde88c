/** The events of Claude Code, as its guide shows them. */
import type { Event } from "../../engine/Guide.ts"

const toolFields = ["tool_name", "tool_input", "tool_use_id"]

const context = ["hookSpecificOutput.additionalContext", "the model reads it"] as const

const block = (meaning: string) => ["decision: \"block\", reason", meaning] as const

const userReads = "blocks nothing; the user reads standard error"

const ignored = "blocks nothing"

const event = (row: Omit<Event, "dialect">): Event => ({ dialect: "claude", ...row })

const signal = (name: string, when: string, fields: ReadonlyArray<string>, more: Partial<Event> = {}): Event =>
  event({ name, occasion: "signal", when: `The host says that ${when}.`, fields, two: ignored, answers: [], ...more })

export const events: ReadonlyArray<Event> = [
  event({
    name: "SessionStart",
    occasion: "session-start",
    when: "A session begins, is resumed, or was compacted.",
    may: "add context",
    matcher: "source",
    values: ["startup", "resume", "clear", "compact", "fork"],
    fields: ["source"],
    two: userReads,
    answers: [["plain text", "the session begins with it"], context, [
      "hookSpecificOutput.initialUserMessage",
      "the session begins with it"
    ]]
  }),
  event({
    name: "UserPromptSubmit",
    occasion: "prompt",
    when: "The user sent a prompt. The model has not read it yet.",
    may: "refuse the prompt, add context",
    fields: ["prompt"],
    two: "the turn fails, the user reads standard error",
    answers: [["plain text", "the model reads it"], context, block("the turn fails, the user reads the reason")]
  }),
  event({
    name: "PreToolUse",
    occasion: "tool-call",
    when: "The model wants to call a tool.",
    may: "refuse the call, change its input, ask a person",
    matcher: "tool_name",
    fields: toolFields,
    two: "the call is refused, the model reads standard error",
    answers: [
      [
        "hookSpecificOutput.permissionDecision: \"deny\"",
        "the call is refused, the model reads permissionDecisionReason"
      ],
      ["hookSpecificOutput.permissionDecision: \"ask\" or \"defer\"", "a person decides"],
      [
        "hookSpecificOutput.permissionDecision: \"allow\"",
        "answers a question of the policy; never overrides a refusal"
      ],
      ["hookSpecificOutput.updatedInput", "the tool is called with this whole object"],
      context,
      block("the call is refused")
    ]
  }),
  event({
    name: "PermissionRequest",
    occasion: "permission",
    when: "The policy asks for a decision about a call.",
    may: "allow or deny what the policy asks about",
    matcher: "tool_name",
    fields: [...toolFields, "permission_suggestions"],
    two: ignored,
    answers: [
      ["hookSpecificOutput.decision.behavior: \"allow\"", "the call is allowed, with updatedInput if there is one"],
      ["hookSpecificOutput.decision.behavior: \"deny\"", "the call is denied with message; interrupt ends the turn"]
    ]
  }),
  event({
    name: "PermissionDenied",
    occasion: "denied",
    when: "A call was denied.",
    may: "let the model try the call again",
    matcher: "tool_name",
    fields: [...toolFields, "reason"],
    two: ignored,
    answers: [["hookSpecificOutput.retry: true", "the model reads that it may try again"]]
  }),
  event({
    name: "PostToolUse",
    occasion: "tool-result",
    when: "A tool gave a result.",
    may: "give feedback, change the result",
    matcher: "tool_name",
    fields: [...toolFields, "tool_response", "duration_ms"],
    two: "the model reads standard error beside the result",
    answers: [
      block("the model reads the reason beside the result"),
      ["hookSpecificOutput.updatedToolOutput", "the model reads this instead of the result"],
      context
    ]
  }),
  event({
    name: "PostToolUseFailure",
    occasion: "tool-failure",
    when: "A tool failed.",
    may: "give feedback",
    matcher: "tool_name",
    fields: [...toolFields, "error", "is_interrupt", "duration_ms"],
    two: "the model reads standard error",
    answers: [context]
  }),
  event({
    name: "PostToolBatch",
    occasion: "step",
    when: "All tools of a step are done.",
    may: "end the turn",
    fields: ["tool_calls"],
    two: "the turn ends",
    answers: [block("the turn ends"), context]
  }),
  event({
    name: "Stop",
    occasion: "stop",
    when: "The agent is about to stop.",
    may: "keep the agent going",
    fields: ["stop_hook_active", "last_assistant_message"],
    two: "the agent continues with standard error as its next instruction, at most 8 times in a row",
    answers: [block("the agent continues with the reason"), context]
  }),
  event({
    name: "StopFailure",
    occasion: "turn-failure",
    when: "A turn failed.",
    matcher: "error",
    fields: ["error", "error_details", "last_assistant_message"],
    two: ignored,
    answers: []
  }),
  event({
    name: "SubagentStart",
    occasion: "subagent-start",
    when: "A sub-agent begins.",
    may: "add context",
    matcher: "agent_type",
    fields: ["agent_id", "agent_type"],
    two: userReads,
    answers: [context]
  }),
  event({
    name: "SubagentStop",
    occasion: "subagent-stop",
    when: "A sub-agent is about to stop.",
    may: "keep the sub-agent going",
    matcher: "agent_type",
    fields: ["agent_id", "agent_type", "stop_hook_active", "last_assistant_message", "agent_transcript_path"],
    two: "the sub-agent continues with standard error",
    answers: [block("the sub-agent continues with the reason"), context]
  }),
  event({
    name: "PreCompact",
    occasion: "compact",
    when: "The conversation is about to be compacted.",
    may: "skip the compaction",
    matcher: "trigger",
    values: ["manual", "auto"],
    fields: ["trigger", "custom_instructions"],
    two: "this compaction is skipped",
    answers: [block("this compaction is skipped")]
  }),
  event({
    name: "PostCompact",
    occasion: "compacted",
    when: "The conversation was compacted.",
    matcher: "trigger",
    values: ["manual", "auto"],
    fields: ["trigger", "compact_summary"],
    two: userReads,
    answers: []
  }),
  event({
    name: "SessionEnd",
    occasion: "session-end",
    when: "A session ends. Entries have 1.5 seconds, or the longest timeout among them up to 60 seconds.",
    matcher: "reason",
    values: ["clear", "resume", "logout", "prompt_input_exit", "other"],
    fields: ["reason"],
    two: ignored,
    answers: []
  }),
  signal("Setup", "the project is being set up", ["trigger"], {
    may: "add context",
    matcher: "trigger",
    values: ["init", "maintenance"],
    two: userReads,
    answers: [context]
  }),
  signal("UserPromptExpansion", "a command of the user is expanded to a prompt", [
    "expansion_type",
    "command_name",
    "command_args",
    "command_source",
    "prompt"
  ], {
    may: "refuse the command, add context",
    matcher: "command_name",
    two: "the command is refused",
    answers: [block("the command is refused"), context]
  }),
  signal("TeammateIdle", "a teammate has nothing to do", ["teammate_name", "team_name"], {
    may: "keep the teammate working",
    two: "the teammate continues",
    answers: [["continue: false", "the teammate stops"]]
  }),
  signal("TaskCreated", "a task was made", ["task_id", "task_subject", "task_description"], {
    may: "roll the task back",
    two: "the task is rolled back",
    answers: [block("the task is rolled back")]
  }),
  signal("TaskCompleted", "a task is done", ["task_id", "task_subject", "task_description"], {
    may: "keep the task open",
    two: "the task stays open",
    answers: [block("the task stays open"), ["continue: false", "the teammate stops"]]
  }),
  signal("Notification", "the user is notified of something", ["message", "title", "notification_type"], {
    matcher: "notification_type"
  }),
  signal("MessageDisplay", "a text is about to be shown", ["turn_id", "message_id", "index", "final", "delta"], {
    may: "change what is shown",
    answers: [["hookSpecificOutput.displayContent", "the user sees this text instead"]]
  }),
  signal("ConfigChange", "settings changed", ["source", "file_path"], {
    may: "refuse the change, unless it is one of policy settings",
    matcher: "source",
    values: ["user_settings", "project_settings", "local_settings", "policy_settings", "skills"],
    two: "the change is refused",
    answers: [block("the change is refused")]
  }),
  signal("InstructionsLoaded", "instructions were read", ["file_path", "memory_type", "load_reason"], {
    matcher: "load_reason"
  }),
  signal("CwdChanged", "the folder changed", ["old_cwd", "new_cwd"]),
  signal("DirectoryAdded", "a folder was added", ["directory", "source"], { matcher: "source" }),
  signal("FileChanged", "a file changed", ["file_path", "event"], { matcher: "file_path" }),
  signal("WorktreeCreate", "a worktree is needed", ["name"], {
    may: "make the worktree, or fail",
    two: "no worktree is made; the same for every code that is not 0",
    answers: [["the last line of standard output", "the path of the worktree"]]
  }),
  signal("WorktreeRemove", "a worktree will be removed", ["worktree_path"]),
  signal("Elicitation", "a server asks the user something", [
    "mcp_server_name",
    "message",
    "mode",
    "url",
    "requested_schema"
  ], {
    may: "answer or decline",
    matcher: "mcp_server_name",
    two: "the request of the server is declined",
    answers: [["hookSpecificOutput.action: \"accept\", \"decline\" or \"cancel\"", "the answer, with content"]]
  }),
  signal("ElicitationResult", "the user answered a server", ["mcp_server_name", "action", "content"], {
    may: "change or decline the answer",
    matcher: "mcp_server_name",
    two: "the answer becomes a refusal",
    answers: [["hookSpecificOutput.action", "the answer, with content"]]
  }),
  signal("PreModelSwitch", "another model is about to be used", ["from_model", "to_model"], {
    may: "refuse the other model",
    two: "the model is not changed",
    answers: [["hookSpecificOutput.permissionDecision: \"deny\"", "the model is not changed"]]
  }),
  signal("PostModelSwitch", "another model is used", ["from_model", "to_model"])
]
