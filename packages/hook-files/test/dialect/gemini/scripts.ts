/** Scripts for Gemini CLI as people write them, unmodified, and an agent that runs them. */
import { createAgent } from "@belay/core/createAgent"
import type { RuntimePolicy } from "@belay/core/RuntimePolicy"
import * as Gemini from "@belay/hook-files/Gemini"
import { assert } from "@effect/vitest"
import { join } from "node:path"
import { type Line, recording, scripted } from "../../../../../test/support/agent.ts"
import { folder, write } from "../../support/processes.ts"

/** Keeps a list of the tools that were called, with jq where it is. */
const logTools = `#!/usr/bin/env bash
event=$(cat)
name() {
  if command -v jq > /dev/null; then jq -r .tool_name; else sed -n 's/.*"tool_name":"\\([^"]*\\)".*/\\1/p'; fi
}
called=$(name <<< "$event")
printf '%s %s\\n' "$called" "$GEMINI_SESSION_ID" >> "$GEMINI_PROJECT_DIR/.gemini/tools.txt"
echo "noted $called" >&2
echo '{}'
`

/** Keeps credentials out of files, in bash. */
const blockSecrets = `#!/usr/bin/env bash
if grep -Eiq 'token=|api_key=' -; then
  printf '%s' '{"decision":"deny","reason":"this file would hold a credential","systemMessage":"a credential was kept out of a file"}'
else
  printf '%s' '{"decision":"allow"}'
fi
`

/** Rewrites commands, in python. */
const rewrite = `#!/usr/bin/env python3
import json, sys
data = json.load(sys.stdin)
command = data["tool_input"]["command"]
if command.startswith("rm "):
    print("use the trash instead", file=sys.stderr)
    sys.exit(2)
if command.startswith("npm install"):
    json.dump({"hookSpecificOutput": {"hookEventName": "BeforeTool", "tool_input": {"command": command.replace("install", "ci")}}}, sys.stdout)
`

/** Routes a tool to another, in node. */
const route = `#!/usr/bin/env node
const input = JSON.parse(require('fs').readFileSync(0, 'utf8'))
if (input.tool_name === 'read_file' && !input.original_request_name) {
  console.log(JSON.stringify({ hookSpecificOutput: {
    hookEventName: 'AfterTool',
    additionalContext: 'from the cache',
    tailToolCallRequest: { name: 'run_shell_command', args: { command: 'cat ' + input.tool_input.file_path } }
  } }))
} else {
  console.log(JSON.stringify({ decision: 'allow', systemMessage: input.tool_name + ' for ' + input.original_request_name }))
}
`

/** Answers without the model, filters its tools and hides a key in what it says, in node. */
const model = `#!/usr/bin/env node
const input = JSON.parse(require('fs').readFileSync(0, 'utf8'))
const event = input.hook_event_name
const last = input.llm_request.messages.at(-1)?.content ?? ''
if (event === 'BeforeModel' && last.includes('ping')) {
  console.log(JSON.stringify({ hookSpecificOutput: { hookEventName: event, llm_response: { candidates: [{ content: { role: 'model', parts: ['pong'] }, finishReason: 'STOP' }] } } }))
} else if (event === 'BeforeToolSelection') {
  console.log(JSON.stringify({ hookSpecificOutput: { hookEventName: event, toolConfig: { mode: 'ANY', allowedFunctionNames: ['read_file', 'write_file'] } } }))
} else if (event === 'AfterModel' && input.llm_response.text.includes('sk-')) {
  const text = input.llm_response.text.replace(/sk-\\w+/g, '[hidden]')
  console.log(JSON.stringify({ hookSpecificOutput: { hookEventName: event, llm_response: { candidates: [{ content: { role: 'model', parts: [text] } }] } } }))
} else {
  console.log('{}')
}
`

/** Rejects an answer until it is good, in python. */
const validate = `#!/usr/bin/env python3
import json, sys
data = json.load(sys.stdin)
with open("answers.log", "a") as log:
    log.write(json.dumps([data["prompt"], data["prompt_response"], data["stop_hook_active"]]) + "\\n")
if "Summary" not in data["prompt_response"]:
    print(json.dumps({"decision": "deny", "reason": "Add a Summary.", "hookSpecificOutput": {"hookEventName": "AfterAgent", "clearContext": "CLEAR" in data["prompt"]}}))
else:
    print(json.dumps({"decision": "allow"}))
`

const scripts = {
  "note-tools.sh": logTools,
  "credentials.sh": blockSecrets,
  "rewrite.py": rewrite,
  "route.js": route,
  "model.js": model,
  "validate.py": validate
}

/** An agent in a project that has all these scripts and these hooks. */
export const start = (
  hooks: object,
  lines: ReadonlyArray<Line>,
  more: { readonly policy?: RuntimePolicy; readonly transcripts?: string; readonly drainMs?: number } = {}
) => {
  const cwd = join(folder(), "my project")
  for (const [name, script] of Object.entries(scripts)) write(join(cwd, ".gemini/hooks", name), script)
  const settings = `// hooks of the project\n${JSON.stringify({ hooks })}`
  const { handlers, warnings } = Gemini.decode(settings, join(cwd, ".gemini/settings.json"))
  assert.deepEqual(warnings, [])
  const { ran, tools } = recording()
  const { provider, requests } = scripted(lines)
  const { policy, ...rest } = more
  const hook = Gemini.make({ handlers, projectDir: cwd, ...rest })
  const agent = createAgent({ provider, tools, hooks: [hook], cwd, ...(policy === undefined ? {} : { policy }) })
  return { cwd, ran, requests, agent }
}
