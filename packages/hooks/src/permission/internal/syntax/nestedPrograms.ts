/** Finds out from the arguments of a program whether it runs other commands. */
import { interpreters, isSystemFolder, shells, wrappers } from "./programs.ts"

/** The name of the program that a word runs: without its folder and extension, in lower case. */
export const programName = (word: string): string =>
  word.slice(word.lastIndexOf("/") + 1).toLowerCase().replace(/\.(?:exe|cmd|bat|com)$/, "")

/** Whether the word names a program without a folder, or in a folder of the operating system. */
export const isStandardProgram = (word: string): boolean =>
  !word.includes("/") || isSystemFolder(word.slice(0, word.lastIndexOf("/")))

/** Matches `NAME=…`. */
export const assignmentWord = /^[A-Za-z_]\w*=/

export const isAwk = (name: string): boolean => /^[gmn]?awk$/.test(name)

export const isInterpreter = (name: string): boolean =>
  interpreters.has(name.replace(/[\d.]+$/, "")) || interpreters.has(name)

/** Commands of a debugger that only show something. */
const quietDebug = new RegExp(
  String.raw`^(?:bt|backtrace|where|run|r|q|quit|c|continue|up|down|(?:thread|info|list|l|p|print|frame|disas\w*|` +
    String.raw`x\/\w+|break|b|set (?:pagination|confirm|width|print)) ?[\w *&.:\->/[\]$]*)$`
)

/** Options of debuggers with a command. */
const debugOption = /^-{1,2}(?:i?ex|[oO]|(?:init-)?eval-command|one-line(?:-before-file)?)(?:=([\s\S]*))?$/

/** Whether an interpreter reads code from its arguments or its input, instead of a named file. */
export const interpreterRunsInlineCode = (name: string, args: ReadonlyArray<string>): boolean => {
  if (args.length > 0 && /^(?:-v|-V|-h|--version|--help|--test)$/.test(args[0]!)) return false
  if (/^(?:gdb|lldb)$/.test(name)) {
    return args.some((arg, index) => {
      const before = debugOption.exec(args[index - 1] ?? "")
      const command = debugOption.exec(arg)?.[1] ?? (before !== null && before[1] === undefined ? arg : undefined)
      return command !== undefined && !quietDebug.test(command)
    })
  }
  const ownArgs = args.slice(0, args.findIndex((arg) => !arg.startsWith("-")) + 1 || undefined)
  const isNode = /^(?:node|nodejs|bun|deno)$/.test(name) && !args.some((arg) => /(?:^|=)data:/.test(arg))
  const hasInlineFlag = ownArgs.some((arg) =>
    arg === "-" || /^-[a-zA-Z]*[ceErRpxMmB]/.test(arg) && arg !== "-m" && !(isNode && arg === "-r") ||
    /^--(?:eval|print|run)/.test(arg) || (!isNode && /^--(?:require|import)/.test(arg))
  )
  const hasSubcommand = (name === "deno" || name === "bun") && args.some((arg) => /^(?:eval|x|repl)$/.test(arg))
  return hasInlineFlag || hasSubcommand || args.every((arg) => /^[-+]/.test(arg))
}

const packageManagers = new RegExp(
  "^(?:npm|pnpm|yarn|bun|uv|poetry|bundle|cargo|go|docker|podman|nerdctl|kubectl|oc|vagrant|pipenv|rye|" +
    "hatch|conda|mamba|nix|mise|asdf|volta|corepack|make|gmake|just|task)$"
)

const managersWithRun = /^(?:docker|podman|nerdctl|kubectl|oc|uv|poetry|pipenv|rye|hatch|conda|mamba|nix)$/

/** Package, container and task managers: they run other programs, but only with some subcommands. */
export const isPackageManager = (name: string): boolean => packageManagers.test(name)

export const packageManagerRunsCommand = (name: string, args: ReadonlyArray<string>): boolean =>
  args.some((arg) => /^(?:exec|x|dlx|-c|--call|ssh|shell|with|--eval)$/.test(arg) || /^--(?:call|eval)=/.test(arg)) ||
  (managersWithRun.test(name) && args.includes("run")) ||
  (name === "nix" && args.includes("develop"))

const gitSetting = new RegExp(
  String.raw`^(?:-c|--config-env)?=?(?:alias\.|[\w.-]*(?:editor|pager|sshcommand|fsmonitor|hookspath|askpass|` +
    String.raw`helper|textconv|external|command|proxy|program|\.cmd|(?<!quote|long)path|process|clean|smudge|` +
    String.raw`driver)\b)`,
  "i"
)

/** Why git may run unknown commands because of a setting or an option; `undefined` when it does not. */
export const gitProblem = (args: ReadonlyArray<string>): string | undefined => {
  const hasSettings = args.some((arg) =>
    arg === "-c" || arg === "config" || arg.startsWith("--config-env") || /^-c./.test(arg)
  )
  if (hasSettings && args.some((arg) => gitSetting.test(arg))) return "settings of git may run commands"
  if (args.includes("grep") && args.some((arg) => /^-O./.test(arg))) return "an option of git may run commands"
  const hasOption = args.some((arg) =>
    /^--(?:exec-path|upload-pack|receive-pack|exec|extcmd|open-files-in-pager)=./.test(arg) || arg.startsWith("ext::")
  )
  return hasOption ? "an option of git may run commands" : undefined
}

/** Why a program may run code because of an option; `undefined` when it does not. */
export const runsCodeOfOptions = (name: string, args: ReadonlyArray<string>): string | undefined => {
  if (/^(?:g?make|remake)$/.test(name)) {
    const isOpaque = args.some((arg, index) =>
      /^(?:SHELL|\.SHELLFLAGS|MAKEFLAGS)\W?=|\$[({]|^--?E(?:val)?\b|^--eval|^-\w*f(?:-|\/dev\/.*)$|^--(?:make)?file=-$/
        .test(arg) ||
      (/^-\w*f$|^--(?:file|makefile)$/.test(args[index - 1] ?? "") && /^(?:-|\/dev\/.*)$/.test(arg))
    )
    return isOpaque ? "an option of make runs commands" : undefined
  }
  if (
    /^(?:npx|bunx|pnpx|uvx|pipx)$/.test(name) && args.some((arg) => /^(?:https?:|git[+:@]|github:|file:)/.test(arg))
  ) {
    return `${name} runs code from elsewhere`
  }
  if (/^(?:iex|invoke-expression)$/.test(name)) return "what runs is read from the input"
  return undefined
}

/** Git runs a command that is in its arguments, as in `git bisect run`. */
export const gitRunsCommand = (args: ReadonlyArray<string>): boolean => {
  const subcommand = args.find((arg) =>
    /^(?:bisect|submodule|rebase|filter-branch|difftool|mergetool|for-each-repo)$/.test(arg)
  )
  return subcommand === "for-each-repo" ||
    (subcommand !== undefined && args.some((arg) => /^(?:run|foreach|-x|--exec|-y|--extcmd|--\w+-filter)$/.test(arg)))
}

/** Programs that take words from their input and run a command with them. */
export const readsArguments = (name: string): boolean => /^(?:xargs|gxargs|parallel|entr)$/.test(name)

/** The name of the program that such a program runs may come from the input too. */
export const readsProgramName = (name: string, args: ReadonlyArray<string>): boolean => {
  const flagIndex = args.findIndex((arg) => /^(?:-I|-J|-i|--replace|--replace=.*|-I.+)$/.test(arg))
  const flag = flagIndex < 0 ? undefined : args[flagIndex]!
  const isSeparate = flag === "-I" || flag === "-J"
  const placeholder = placeholderOf(flag, isSeparate ? args[flagIndex + 1] : undefined)
  const words = args.filter((arg, index) =>
    !/^[-+]/.test(arg) && !(isSeparate && index === flagIndex + 1) && !/^\d+$/.test(arg) && !assignmentWord.test(arg)
  )
  if (name === "parallel" && words.length === 0) return true
  if (words[0]?.includes(placeholder) === true) return true
  const runner = words.findLastIndex((word) => {
    const program = programName(word)
    return wrappers.has(program) || shells.has(program) || program === "eval"
  })
  if (runner < 0) return false
  return runner === words.length - 1 || words.slice(runner + 1).some((word) => word.includes(placeholder))
}

/** The text that the word from the input replaces: `{}`, or the value of a flag. */
const placeholderOf = (flag: string | undefined, value: string | undefined): string => {
  if (flag === undefined) return "{}"
  if (flag === "-I" || flag === "-J") return value ?? "{}"
  return /^(?:-I|--replace=)(.+)$/.exec(flag)?.[1] ?? "{}"
}
