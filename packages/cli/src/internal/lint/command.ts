/** Rules about commands and the scripts that they start. */
import { existsSync } from "node:fs"
import type { Item } from "../world.ts"
import { answers, answersJson } from "./answers.ts"
import { blocksByTwo, breaking, missing } from "./ends.ts"
import { isGuard } from "./entry.ts"
import { fields } from "./fields.ts"
import { type Said, said } from "./finding.ts"
import { isProgram, languageOf, type Script, scriptOf, wordsOf } from "./scripts.ts"
import { variables } from "./variables.ts"

/** Where to look for scripts and programs. */
export interface Place {
  readonly cwd: string
  readonly home: string
  /** Folders of programs, in the format of `PATH`. */
  readonly path: string
}

/** Programs that exit with 2 for their own reasons. */
const twos = [
  "grep",
  "egrep",
  "fgrep",
  "rg",
  "diff",
  "cmp",
  "jq",
  "ls",
  "make",
  "sort",
  "tsc",
  "eslint",
  "prettier",
  "ruff",
  "mypy",
  "pytest",
  "shellcheck",
  "tar"
]

export const check = (item: Item, place: Place): ReadonlyArray<Said> => {
  const { entry: { work } } = item
  if (work.type !== "command") return []
  const script = scriptOf(item, place)
  return [
    ...startFindings(item, work, place),
    ...alwaysOpen(item, work.command, script?.text ?? ""),
    ...(script === undefined
      ? [
        ...lineTraps(item, work.command),
        ...answers(item, "the line", work.command, "bash"),
        ...fields(item, "the line", work.command)
      ]
      : [...file(item, script, place), ...(script.exists ? content(item, script, place) : [])])
  ]
}

/** A guard whose exit code is always 0, and that does not answer with JSON. */
const alwaysOpen = (item: Item, command: string, script: string): ReadonlyArray<Said> =>
  isGuard(item) && /\|\|\s*(?:true|:|exit\s+0)\s*$/.test(command) && !answersJson(`${command}\n${script}`)
    ? [
      said(
        "warning",
        "guard-open",
        "it always exits with 0",
        "`|| true` lets every call pass, even if the guard blocks",
        "Remove it, or keep code 2: `guard.sh || exit $?`."
      )
    ]
    : []

const builtins = new RegExp(
  String.raw`^(?:\[|\[\[|:|\.|!|if|for|while|until|case|select|function|time|coproc|\{|alias|bg|bind|break|` +
    "builtin|caller|cd|command|compgen|complete|compopt|continue|declare|dirs|disown|echo|enable|eval|" +
    "exec|exit|export|false|fc|fg|getopts|hash|help|history|jobs|kill|let|local|logout|mapfile|popd|" +
    "printf|pushd|pwd|read|readarray|readonly|return|set|shift|shopt|source|suspend|test|times|trap|true|" +
    "type|typeset|ulimit|umask|unalias|unset|wait)$"
)

const startFindings = (
  item: Item,
  work: { readonly command: string; readonly args?: ReadonlyArray<string> },
  { path }: Place
): ReadonlyArray<Said> => {
  const { source } = item
  const found: Array<Said> = []
  const first = work.args === undefined ? wordsOf(work.command).find((word) => !/^\w+=/.test(word)) : work.command
  if (first !== undefined && /^[\w.+-]+$/.test(first) && !builtins.test(first) && !isProgram(first, path)) {
    found.push(
      said(
        "error",
        "program-missing",
        `there is no program ${first}`,
        breaking(item, 127),
        `Install ${first}, or use its full path.`
      )
    )
  }
  if (work.args !== undefined) {
    const text = [work.command, ...work.args].find((one) =>
      /^~\/|\$(?!\{CLAUDE_(?:PROJECT_DIR|PLUGIN_ROOT|PLUGIN_DATA)\})\{?[A-Za-z_]/.test(one)
    )
    if (text !== undefined) {
      found.push(
        said(
          "error",
          "args-variable",
          `${JSON.stringify(text)} is passed unchanged`,
          "with args only ${CLAUDE_PROJECT_DIR} and the folders of the plugin are replaced",
          "Use the full path, or remove args."
        )
      )
    }
    return found
  }
  const { command } = work
  if (
    source.dialect === "claude" && /^\s*(?:(?:ba|z)?sh\s+|python3?\s+|node\s+)?(?:\.{1,2}\/|\.claude\/)/.test(command)
  ) {
    found.push(
      said(
        "warning",
        "path-relative",
        "its path is relative",
        "commands run in the folder of the session, which can differ from the project",
        "Write \"$CLAUDE_PROJECT_DIR\"/ before it, with the quotes."
      )
    )
  }
  // Gemini CLI puts the folder in quotes itself if the variable has no braces.
  const names = source.dialect === "gemini" ? /(?:^|\s)\$\{(\w+_PROJECT_DIR)\}/ : /(?:^|\s)\$\{?(\w+_PROJECT_DIR)\}?/
  const variable = names.exec(command.replaceAll(/"[^"]*"/g, "\"\""))?.[1]
  if (variable !== undefined) {
    found.push(
      said(
        "hint",
        "path-unquoted",
        "the project's folder is not in quotes",
        "a folder with a space in its name becomes two words",
        `Write "$${variable}"/… with the quotes.`
      )
    )
  }
  return [...found, ...variables(item, "the line", command, "shell")]
}

const file = (item: Item, script: Script, { path: programs }: Place): ReadonlyArray<Said> => {
  const { by, executable, exists, path, text } = script
  if (!exists) {
    return [
      said(
        "error",
        "script-missing",
        `there is no file ${path}`,
        breaking(item, missing(by)),
        "Correct the path, or create the file."
      )
    ]
  }
  if (text.startsWith("\u007FELF") || text.includes("\0")) return []
  const found: Array<Said> = []
  const head = /^#!\s*(\S+)(?:[ \t]+(?:-S\s+)?(\S+))?/.exec(text)
  if (by === undefined && !executable) {
    found.push(
      said("error", "script-mode", `${path} has no execute bit`, breaking(item, 126), `chmod +x ${path}`)
    )
  }
  if (by === undefined && head === null) {
    found.push(
      said(
        "warning",
        "script-shebang",
        `${path} has no line that names its interpreter`,
        "the shell runs it, whatever its language",
        "Begin it with #!/bin/bash or #!/usr/bin/env python3."
      )
    )
  }
  if (by === undefined && head !== null) {
    const [, program = "", argument = ""] = head
    const isThere = program.endsWith("/env") ? argument === "" || isProgram(argument, programs) : existsSync(program)
    if (!isThere) {
      const name = program.endsWith("/env") ? argument : program
      found.push(
        said(
          "error",
          "program-missing",
          `${path} needs ${name}, which is not installed`,
          breaking(item, 127),
          `Install it, or change the first line.`
        )
      )
    }
  }
  if (/\r\n/.test(text) && languageOf(script) !== "node") {
    found.push(
      said(
        "error",
        "script-lines",
        `${path} has line ends of Windows`,
        by === undefined
          ? `its first line names a program that does not exist: ${breaking(item, 127)}`
          : "its lines end with a carriage return",
        `Save it with \\n: sed -i 's/\\r$//' ${path}`
      )
    )
  }
  return found
}

const content = (item: Item, script: Script, place: Place): ReadonlyArray<Said> => {
  const { path: programs } = place
  const { path, text } = script
  const language = languageOf(script)
  const isShell = language === "bash" || language === "sh"
  const code = isShell ? text.split("\n").map((line) => /^\s*#(?!!)/.test(line) ? "" : line).join("\n") : text
  const found: Array<Said> = []
  if (language === "sh") {
    const line = code.split("\n").find((one) => bashOnly.test(one))
    if (line !== undefined) {
      found.push(
        said(
          "error",
          "shell-syntax",
          `${path} is run by sh and is written for bash: ${line.trim().slice(0, 60)}`,
          "if sh is not bash, it fails with 2 or 127 and blocks everything or nothing",
          "Begin it with #!/bin/bash."
        )
      )
    }
  }
  if (isShell && /(?:^|[|;&(\s])jq\s/m.test(code) && !isProgram("jq", programs)) {
    found.push(
      said(
        "error",
        "program-missing",
        `${path} needs jq, which is not installed`,
        "it never finds what it looks for, and the call runs",
        "Install jq."
      )
    )
  }
  if (isShell && blocksByTwo(item)) found.push(...scriptTraps(path, code))
  return [
    ...found,
    ...answers(item, path, code, language),
    ...fields(item, path, code),
    ...(language === "other" ? [] : variables(item, path, code, isShell ? "shell" : language))
  ]
}

const bashOnly = /\[\[|<<<|<\(|\$\{\w+(?:,,|\^\^)|^\s*function\s+\w|^\s*declare\s|^\s*\w+=\(|&>/

const trap = (what: string): Said =>
  said(
    "warning",
    "exit-two",
    what,
    "exit code 2 blocks: if the program fails for another reason, the call is blocked",
    "Use your own exit codes: `if …; then exit 2; fi; exit 0`."
  )

/** A command whose exit code is that of its last program. */
const lineTraps = (item: Item, command: string): ReadonlyArray<Said> => {
  if (!blocksByTwo(item)) return []
  const last = command.trim().split(/\|\||&&|[;|\n]/).at(-1)!.trim()
  const name = wordsOf(last)[0]
  return name !== undefined && twos.includes(name)
    ? [trap(`the exit code is that of ${name}, which is 2 on errors`)]
    : []
}

const scriptTraps = (path: string, code: string): ReadonlyArray<Said> => {
  const rows = code.split("\n").map((line) => line.trim()).filter((line) => line !== "")
  const last = rows.at(-1) ?? ""
  const endsWith = wordsOf(last.split(/\|\||&&|[;|]/).at(-1)!.trim())[0]
  if (endsWith !== undefined && twos.includes(endsWith)) {
    return [trap(`the exit code of ${path} is that of its last line: ${last.slice(0, 60)}`)]
  }
  if (!/^[ \t]*set\s+(?:-\w*e|-o\s+errexit)|^#!.*\s-\w*e/m.test(code)) return []
  const strict = /^[ \t]*set\s+.*pipefail/m.test(code)
  const risky = rows.find((line) =>
    !/\|\||&&|^(?:if|elif|while|until|!)\b|; then/.test(line) &&
    programsOf(line, strict).some((name) => twos.includes(name))
  )
  return risky === undefined
    ? []
    : [trap(`${path} has set -e and exits with the code of this line if it fails: ${risky.slice(0, 60)}`)]
}

/** Programs whose failure is the failure of the command: the last of a pipe, or all. */
const programsOf = (line: string, strict: boolean): ReadonlyArray<string> => {
  const inner = /^\w+="?\$\((.*)\)"?$/.exec(line)?.[1] ?? line
  const parts = inner.split("|")
  return (strict ? parts : parts.slice(-1)).flatMap((part) => wordsOf(part.trim())[0] ?? [])
}
