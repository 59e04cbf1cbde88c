/** Rules about variables that a command uses and nobody sets. */
import * as Command from "@belay/hook-files/Command"
import type { Entry } from "@belay/hook-files/Discovery"
import type { Item } from "../world.ts"
import { type Said, said } from "./finding.ts"
import { filledIn } from "./shell.ts"

const inherited = new Set(Command.inherited)

/** Variables of the shell, and variables that every command gets. */
const always = new RegExp(
  String.raw`^(?:LC_\w+|PYTHONDONTWRITEBYTECODE|PWD|OLDPWD|IFS|RANDOM|SRANDOM|SECONDS|E?UID|PPID|GROUPS|HOSTNAME|` +
    String.raw`HOSTTYPE|OSTYPE|MACHTYPE|SHLVL|SHELLOPTS|BASH\w*|EPOCH\w+|REPLY|OPT(?:ARG|IND|ERR)|PIPESTATUS|` +
    String.raw`FUNCNAME|DIRSTACK|LINENO|COLUMNS|LINES|COMP_\w+|ZSH_\w+|PS[1-4]|CDPATH|HIST\w+|MAPFILE|COPROC|_)$`
)

const own: { readonly [dialect: string]: RegExp } = {
  claude: new RegExp(
    "^(?:CLAUDE_PROJECT_DIR|CLAUDE_PLUGIN_ROOT|CLAUDE_PLUGIN_DATA|CLAUDE_SKILL_DIR|CLAUDE_ENV_FILE|" +
      String.raw`tool_name|tool_input_\w+)$`
  ),
  codex:
    /^(?:CLAUDE_PROJECT_DIR|CLAUDE_PLUGIN_ROOT|CLAUDE_PLUGIN_DATA|PLUGIN_ROOT|PLUGIN_DATA|tool_name|tool_input_\w+)$/,
  copilot: /^(?:COPILOT_PROJECT_DIR|CLAUDE_PROJECT_DIR)$/,
  cursor: /^(?:CURSOR_PROJECT_DIR|CURSOR_VERSION|CURSOR_TRANSCRIPT_PATH|CLAUDE_PROJECT_DIR)$/,
  windsurf: /^ROOT_WORKSPACE_PATH$/,
  factory: new RegExp(
    "^(?:FACTORY_PROJECT_DIR|CLAUDE_PROJECT_DIR|DROID_PLUGIN_ROOT|DROID_PLUGIN_DATA|CLAUDE_PLUGIN_ROOT|" +
      String.raw`CLAUDE_PLUGIN_DATA|tool_name|tool_input_\w+)$`
  ),
  gemini: new RegExp(
    "^(?:GEMINI_PROJECT_DIR|GEMINI_CWD|GEMINI_SESSION_ID|GEMINI_PLANS_DIR|CLAUDE_PROJECT_DIR|" +
      "workspacePath|extensionPath)$"
  )
}

export const variables = (item: Item, name: string, code: string, language: string): ReadonlyArray<Said> => {
  const { entry, source: { config, dialect, ofProject } } = item
  // Some dialects have these fields.
  const { env: owned = {} } = entry as Entry & { readonly env?: object }
  // Variables in settings files of the user and of the machine.
  const env = { ...(ofProject || !("env" in config) ? {} : config.env as object), ...owned }
  const strange = [
    ...new Set(language === "python" ? ofPython(code) : language === "node" ? ofNode(code) : ofShell(code))
  ].find((one) =>
    !inherited.has(one) && !always.test(one) && own[dialect]?.test(one) !== true && !Object.hasOwn(env, one)
  )
  if (strange === undefined) return []
  const ofHost = secret.test(strange)
  const input = dialect === "claude" || dialect === "codex" ? ", or use $tool_input_file_path" : ""
  return [
    said(
      "warning",
      "variable-unknown",
      `no part of the agent sets $${strange}${name === "the line" ? "" : `, which ${name} uses`}`,
      "a command gets few variables of the host: this one is empty unless `passEnv` of the agent lists it",
      ofHost
        ? `Add it to the options of the agent: passEnv: ["${strange}"].`
        : `Read the event from standard input, such as jq -r .tool_input.file_path${input}.`
    )
  ]
}

const secret = /TOKEN|SECRET|PASSW|API_?KEY|WEBHOOK|CREDENTIAL|_KEY$|_URL$/

const ofShell = (code: string): ReadonlyArray<string> => {
  const text = filledIn(code)
  // A file that the script sources can set any variable.
  if (/(?:^|[\s;&|(])(?:source|\.|eval)\s/m.test(text)) return []
  const set = new Set([
    ...[
      ...text.matchAll(
        /(?:^|[\s;&|(){])(\w+)(?:\[[^\]]*\])?\+?=|\b(?:for|select|getopts\s+\S+|printf\s+-v)\s+(\w+)|\(\(\s*(\w+)\s*=/g
      )
    ]
      .flatMap(([, ...names]) => names),
    ...[...text.matchAll(/\b(?:export|local|declare|typeset|readonly|read|mapfile|readarray)\s+([^\n;|&<>]+)/g)]
      .flatMap(([, names]) => names!.replaceAll(/\$\{?\w+/g, "").match(/\w+/g) ?? [])
  ])
  // A script that checks whether a variable is set knows that it may be missing.
  const asked = new Set(
    [...text.matchAll(/\s-[nzv]\s+"?\$?\{?(\w+)|\$\{(\w+):?[-+=?]/g)].map(([, a, b]) => a ?? b!)
  )
  return [...text.matchAll(/\$(?:([A-Za-z_]\w*)|\{[#!]?([A-Za-z_]\w*))/g)].map(([, a, b]) => a ?? b!).filter((name) =>
    !set.has(name) && !asked.has(name)
  )
}

/** Reports only variables that the script needs. */
const ofPython = (code: string): ReadonlyArray<string> => [
  ...[...code.matchAll(/os\.environ\[\s*["'](\w+)["']\s*\](?!\s*=[^=])/g)].map(([, name]) => name!),
  ...[...code.matchAll(/os\.(?:environ\.get|getenv)\(\s*["'](\w+)["']\s*\)/g)].map(([, name]) => name!).filter(isWanted)
]

const ofNode = (code: string): ReadonlyArray<string> =>
  [...code.matchAll(/process\.env(?:\.(\w+)|\[\s*["'](\w+)["']\s*\])(?!\s*(?:\?\?|\|\||=[^=]))/g)].map(([, a, b]) =>
    a ?? b!
  ).filter(
    isWanted
  )

const isWanted = (name: string): boolean => /TOKEN|SECRET|PASSW|API_?KEY|WEBHOOK|^CLAUDE_(?:FILE|TOOL)/.test(name)
