/** Executables of Kodelet as people write them. */
import type { Json } from "@belay/core/Json"
import { type Files, type Step } from "../../support/publicFiles.ts"

export const sh = (command: string) => ["bash", { command }] as const

/** A script in bash, as the documentation lays it out. */
export const bash = (type: string, body: string): string =>
  `#!/bin/bash
case "$1" in
  hook)
    echo "${type}"
    ;;
  run)
    payload=$(cat)
    ${body}
    ;;
  *)
    exit 1
    ;;
esac
`

export const python = (type: string, body: string): string =>
  `#!/usr/bin/env python3
import json
import sys

def hook():
    print("${type}")

def run():
    payload = json.load(sys.stdin)
${body.split("\n").map((line) => `    ${line}`).join("\n")}

if __name__ == "__main__":
    {"hook": hook, "run": run}[sys.argv[1]]()
`

export const node = (type: string, body: string): string =>
  `#!/usr/bin/env node
const [, , mode] = process.argv
if (mode === 'hook') {
  console.log('${type}')
} else if (mode === 'run') {
  const payload = JSON.parse(require('fs').readFileSync(0, 'utf8'))
  ${body}
} else process.exit(1)
`

export const at = (name: string) => `.kodelet/hooks/${name}`
export const lines = (log: string): ReadonlyArray<Json> =>
  log.trim().split("\n").filter((line) => line !== "").map((line) => JSON.parse(line) as Json)

export const guards: ReadonlyArray<
  { readonly title: string; readonly files: Files; readonly steps: ReadonlyArray<Step>; readonly warns?: RegExp }
> = [
  {
    title: "in python: a list of words",
    files: {
      [at("guard.py")]: python(
        "before_tool_call",
        `command = payload.get("tool_input", {}).get("command", "")
for word in ["rm -rf", "sudo"]:
    if payload.get("tool_name") == "bash" and word in command:
        print(json.dumps({"blocked": True, "reason": f"Policy: {word}"}))
        sys.exit(0)
print(json.dumps({"blocked": False}))`
      )
    },
    steps: [[...sh("sudo ls"), /Policy: sudo/], ["run_shell_command", { command: "rm -rf x" }, /Policy: rm -rf/], [
      ...sh("ls"),
      "runs"
    ]]
  },
  {
    title: "in bash: files that are nobody's to write, whatever the tool calls its path",
    files: {
      [at("protect")]: bash(
        "before_tool_call",
        `path=$(jq -r '.tool_input.file_path // .tool_input.path // empty' <<< "$payload")
    case "$path" in *.lock) jq -n --arg p "$path" '{blocked: true, reason: ($p + " is generated")}' ;; esac`
      )
    },
    steps: [
      ["write_file", { path: "pnpm.lock", content: "" }, /pnpm.lock is generated/],
      ["edit", { path: "a.lock", old_str: "", new_str: "" }, /is generated/],
      ["write_file", { path: "a.ts", content: "" }, "runs"]
    ]
  },
  {
    title: "one after the other by name, each on what the one before made of it",
    files: {
      [at("01-flags")]: node(
        "before_tool_call",
        "console.log(JSON.stringify({ blocked: false, input: { ...payload.tool_input, command: payload.tool_input.command + ' -a' } }))"
      ),
      [at("02-flags")]: python(
        "before_tool_call",
        `print(json.dumps({"input": {**payload["tool_input"], "command": payload["tool_input"]["command"] + " -b"}}))`
      ),
      [at("03-quiet")]: bash("before_tool_call", "echo '{\"blocked\":false}'"),
      [at("04-silent")]: bash("before_tool_call", "exit 0")
    },
    steps: [[...sh("ls"), { with: { command: "ls -a -b" } }]]
  },
  {
    title: "until the first that blocks; without a reason, too",
    files: {
      [at("10-first")]: bash("before_tool_call", "echo '{\"blocked\":true}'"),
      [at("20-second")]: bash("before_tool_call", "touch second; echo '{\"blocked\":true,\"reason\":\"second\"}'")
    },
    steps: [[...sh("test ! -e second"), /blocked without a reason/]]
  },
  {
    title: "not when they break: with a code, with words, with half an answer, with another type",
    files: {
      [at("a-code")]: bash(
        "before_tool_call",
        "echo '{\"blocked\":true,\"reason\":\"unheard\"}'; echo oops >&2; exit 2"
      ),
      [at("b-words")]: bash("before_tool_call", "echo 'checking'; echo '{\"blocked\":true,\"reason\":\"unheard\"}'"),
      [at("c-half")]: bash("before_tool_call", "echo '{\"blocked\":true'"),
      [at("d-text")]: bash("before_tool_call", "echo '{\"blocked\":\"true\",\"reason\":\"unheard\"}'"),
      [at("e-killed")]: bash("before_tool_call", "kill -9 $$"),
      [at("f-deaf")]: bash("before_tool_call", "exec <&-; exit 0")
    },
    steps: [[...sh("ls"), "runs"]],
    warns:
      /a-code.*ended with 2: oops[^]*b-words[^]*not JSON[^]*c-half[^]*not JSON[^]*d-text[^]*does not fit[^]*e-killed[^]*was killed/
  },
  {
    title: "only when they are executables that say what they are for",
    files: {
      [at("off.disable")]: bash("before_tool_call", "echo '{\"blocked\":true,\"reason\":\"disabled\"}'"),
      [at("no-bit")]: bash("before_tool_call", "echo '{\"blocked\":true,\"reason\":\"no bit\"}'").replace(
        "#!/bin/bash\n",
        ""
      ),
      [at("lib/helper")]: bash("before_tool_call", "echo '{\"blocked\":true,\"reason\":\"folder\"}'"),
      [at("unknown")]: bash("before_everything", "echo '{\"blocked\":true,\"reason\":\"unknown\"}'"),
      [at("broken")]: "#!/usr/bin/env no-such-python\n",
      [at("fails")]: "#!/bin/bash\necho before_tool_call\nexit 1\n",
      [at("padded")]:
        "#!/bin/bash\n[ \"$1\" = hook ] && printf '  before_tool_call \\n\\n' && exit\ngrep -q '\"ls\"' && echo '{\"blocked\":true,\"reason\":\"padded\"}'\nexit 0\n"
    },
    steps: [[...sh("ls"), /padded/], [...sh("cat"), "runs"]],
    warns: /broken[^]*left out[^]*fails[^]*left out[^]*unknown[^]*left out/
  },
  {
    title: "after they ran: other results, failures, and nothing",
    files: {
      [at("redact")]: python(
        "after_tool_call",
        `output = payload["tool_output"]
assert output["toolName"] == payload["tool_name"] and payload["tool_user_id"] and output["timestamp"].endswith("Z")
if payload["tool_name"] == "read_file":
    output["metadata"]["output"] = output["metadata"]["output"].replace("hunter2", "***")
    print(json.dumps({"output": output}))
if payload["tool_name"] == "bash":
    print(json.dumps({"output": {"toolName": "bash", "success": False, "error": "exit code hidden", "timestamp": output["timestamp"]}}))
if payload["tool_name"] == "fail":
    print(json.dumps({"output": {**output, "error": "no space: " + str(output["success"])}}))`
      ),
      [at("zz-log")]: bash(
        "after_tool_call",
        "jq -c '[.tool_name, .tool_output.success]' <<< \"$payload\" >> ~/audit.log"
      )
    },
    steps: [
      ["read_file", { path: "a" }, { reads: "the password is ***" }],
      [...sh("env"), { reads: /exit code hidden/ }],
      ["fail", {}, { reads: /no space: False/ }],
      ["view", { path: "a" }, "runs"]
    ]
  },
  {
    title: "of plugins, whose names have no say over others",
    files: {
      [at("guard")]: bash("before_tool_call", "echo \"$(jq -r .tool_name <<< \"$payload\")\" >> order.log"),
      ".kodelet/plugins/acme@hooks/hooks/guard": bash(
        "before_tool_call",
        "echo '{\"blocked\":true,\"reason\":\"of the plugin\"}'"
      )
    },
    steps: [[...sh("ls"), /of the plugin/]]
  }
]
