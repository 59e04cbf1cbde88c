/** Finds every command that a shell line may run, or says why its commands cannot be known. */
import * as Programs from "./nestedPrograms.ts"
import { inert, interpreters, shells, wrappers } from "./programs.ts"
import { readScript } from "./scriptReader.ts"
import type { Redirect, Simple, Word } from "./shellSyntax.ts"

export type { Word } from "./shellSyntax.ts"

/** One command of a line. */
export interface Command {
  readonly words: ReadonlyArray<Word>
  /** The program's name without its folder, in lower case. */
  readonly name: string
  /** Whether the program is named without a folder, or in a folder of the operating system. */
  readonly standard: boolean
  readonly redirects: ReadonlyArray<Redirect>
  /** `plain`: the line runs it. `wrapped`: another program runs it. `guess`: an unknown program might run it. */
  readonly via: "plain" | "wrapped" | "guess"
  /** Whether it runs another command, which is among its arguments. */
  readonly wraps: boolean
  /** Whether the line sets variables for it. */
  readonly assigns: boolean
}

/** All commands of a line. */
export interface Decomposed {
  readonly commands: ReadonlyArray<Command>
  /** The line contains a variable, a parameter or a substitution. */
  readonly dynamic: boolean
  /** Why the commands of the line cannot be known; `undefined` if they are known. */
  readonly unknown: string | undefined
}

const maxCommands = 4_096
const maxArguments = 128
const maxNesting = 12

/** Finds the commands of a line. The last lines are cached, because several rules ask about one call. */
export const decompose = (line: string): Decomposed => {
  const cached = cache.get(line)
  if (cached !== undefined) return cached
  const decomposed = collectCommands(line)
  if (cache.size >= 32) cache.clear()
  cache.set(line, decomposed)
  return decomposed
}

/** Module state: a cache of a pure function, so that it cannot change an answer. */
const cache = new Map<string, Decomposed>()

const collectCommands = (line: string): Decomposed => {
  const collector = new CommandCollector()
  collector.script(line, 0, "plain")
  // Other shells accept other spaces, and read `^` as an escape.
  if (line.includes("^") || line.search(spaces) >= 0 || line.search(invisible) >= 0) {
    const normalized = line.normalize("NFKC").replaceAll(invisible, "").replaceAll(spaces, " ").replaceAll("^", "")
    const other = new CommandCollector()
    other.script(normalized, 0, "plain")
    collector.commands.push(...other.commands.map((command) => ({ ...command, via: "guess" as const })))
  }
  return { commands: collector.commands, dynamic: collector.dynamic, unknown: collector.unknown }
}

const spaces = /[\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\u0085\v\f]/g
const invisible = /[\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff]/g

/** Variables whose values are commands. */
const commandVariable = /(?:COMMAND|PAGER|EDITOR|VISUAL|BROWSER|OPENER?|ASKPASS|PROXY_?CMD|^(?:BASH_)?ENV|^PS[0-4])$/i

/** Variables that make other programs load code. */
const loaderVariable =
  /^(?:LD_PRELOAD|LD_LIBRARY_PATH|DYLD_\w+|PERL5OPT|RUBYOPT|PYTHONSTARTUP|GIT_CONFIG\w*|BASH_FUNC\w*)$/

/** Programs that run code in their arguments, so the arguments after them are searched again. */
const runsCode: ReadonlySet<string> = new Set(
  ["eval", "source", ".", "awk", "gawk", "sed", "git", "xargs", "find", "trap"]
)

/** A program with its arguments, in which commands are searched for. */
interface Invocation {
  readonly name: string
  readonly standard: boolean
  readonly args: ReadonlyArray<Word>
  readonly inputs: ReadonlyArray<Word>
  readonly depth: number
  readonly via: Command["via"]
}

/** Collects commands. A class: one mutable list is shared by methods that call each other. */
class CommandCollector {
  readonly commands: Array<Command> = []
  dynamic = false
  unknown: string | undefined

  script(text: string, depth: number, via: Command["via"]): void {
    const script = readScript(text, depth)
    this.dynamic ||= script.dynamic
    if (script.problem !== undefined) this.problem(script.problem, via)
    for (const simple of script.commands) this.simple(simple, depth, via)
  }

  /** Records why the commands of the line cannot be known. A mere guess cannot make a line unknown. */
  private problem(why: string, via: Command["via"]): void {
    if (via !== "guess") this.unknown ??= why
  }

  private simple({ assigns, inputs, redirects, words }: Simple, depth: number, via: Command["via"]): void {
    for (const { name, value } of assigns) {
      if (commandVariable.test(name)) {
        if (value.dynamic) this.problem(`${name} is dynamic`, via)
        else this.script(value.text, depth + 1, via)
      }
      if (loaderVariable.test(name)) this.problem(`${name} changes what programs do`, via)
    }
    this.command({ words, redirects, assigns: assigns.length > 0 }, inputs, depth, via)
  }

  private command(
    { assigns, redirects, words }: Pick<Command, "assigns" | "redirects" | "words">,
    inputs: ReadonlyArray<Word>,
    depth: number,
    via: Command["via"]
  ): void {
    if (this.commands.length >= maxCommands) return this.problem("it has too many commands", "plain")
    const [first, ...args] = words
    if (first === undefined) {
      if (redirects.length > 0) {
        this.commands.push({ words, name: "", standard: true, redirects, via, wraps: false, assigns })
      }
      return
    }
    const name = Programs.programName(first.text)
    const standard = Programs.isStandardProgram(first.text)
    const index = this.commands.push({ words, name, standard, redirects, via, wraps: false, assigns }) - 1
    if (first.dynamic || first.fuzzy || first.text.startsWith("=") || first.text.includes("{}")) {
      return this.problem("the name of a program is dynamic", via)
    }
    if (this.nested({ name, standard, args, inputs, depth, via })) {
      this.commands[index] = { words, name, standard, redirects, via, wraps: true, assigns }
    }
  }

  /** Searches the arguments for commands. Returns whether the program can run any. */
  private nested(invocation: Invocation): boolean {
    const { args, depth, name, standard, via } = invocation
    const texts = args.map(({ text }) => text)
    if (name === "eval" || name === "trap") return this.evaluated(invocation)
    if (name === "source" || name === ".") return this.opaque("it reads commands from a file", via)
    if (name === "alias" || name === "hash" || name === "enable" || name === "bind" || name === "complete") {
      return texts.some((text) => /=|^-[pf]/.test(text)) && this.opaque(`${name} gives programs other names`, via)
    }
    if (shells.has(name)) return this.shell(invocation)
    if (Programs.isInterpreter(name)) {
      return Programs.interpreterRunsInlineCode(name, texts) &&
        this.opaque(`${name} runs code that is not shell`, via)
    }
    if (Programs.isAwk(name)) {
      return Programs.awkMayRunCommands(texts) && this.opaque("an awk program may run commands", via)
    }
    if (name === "sed" || name === "gsed") {
      return Programs.sedMayRunCommands(texts) && this.opaque("a sed script may run commands", via)
    }
    if (name === "find" || name === "gfind" || name === "fd" || name === "fdfind") return this.find(invocation)
    if (name === "git") {
      const problem = Programs.gitProblem(texts)
      if (problem !== undefined) return this.opaque(problem, via)
      return Programs.gitRunsCommand(texts) && this.wrapped(args, depth, via)
    }
    if (Programs.isPackageManager(name)) {
      return Programs.packageManagerRunsCommand(name, texts) && this.wrapped(args, depth, via)
    }
    if (wrappers.has(name)) return this.wrapper(invocation, texts)
    if (!inert.has(name) || !standard) this.suffixes(args, depth, "guess")
    return false
  }

  private opaque(why: string, via: Command["via"]): true {
    this.problem(why, via)
    return true
  }

  /** `eval` and `trap`: their arguments are a script. */
  private evaluated({ args, depth, name, via }: Invocation): true {
    const code = name === "eval" ? args.filter(({ text }) => text !== "--") : args.slice(0, 1)
    if (code.some(({ dynamic, fuzzy }) => dynamic || fuzzy)) this.problem(`what ${name} runs is dynamic`, via)
    else this.script(code.map(({ text }) => text).join(" "), depth + 1, via)
    return true
  }

  /** A shell: it reads a script from an argument, from its input or from a file. */
  private shell({ args, depth, inputs, name, via }: Invocation): boolean {
    if (args.length > 0 && args.every(({ text }) => /^--(?:version|help)$/.test(text))) return false
    if (name === "cmd" || name === "powershell" || name === "pwsh") {
      this.suffixes(args, depth, via)
      return this.opaque(`${name} has another language`, via)
    }
    const flagIndex = args.findIndex(({ text }) => /^[-+][a-zA-Z]*c[a-zA-Z]*$/.test(text))
    if (flagIndex >= 0) {
      const code = args.slice(flagIndex + 1).find(({ text }) => !/^[-+]/.test(text))
      if (code === undefined || code.dynamic || code.fuzzy) return this.opaque(`what ${name} runs is dynamic`, via)
      this.script(code.text, depth + 1, via)
      if (args.slice(0, flagIndex).some(({ dynamic, text }) => dynamic || /^--(?:rc|init)/.test(text))) {
        this.problem(`${name} reads a file first`, via)
      }
      return true
    }
    if (inputs.length > 0 && args.every(({ text }) => /^-(?:[exuls]+)?$/.test(text))) {
      for (const { dynamic, text } of inputs) {
        if (dynamic) this.problem(`what ${name} runs is dynamic`, via)
        this.script(text, depth + 1, via)
      }
      return true
    }
    return this.opaque(`${name} reads commands from a file or its input`, via)
  }

  private find({ args, depth, via }: Invocation): boolean {
    let runsCommand = false
    args.forEach(({ text }, index) => {
      if (!/^(?:-exec|-execdir|-ok|-okdir|-x|-X|--exec|--exec-batch)$/.test(text)) return
      runsCommand = true
      this.dynamic = true
      const words = args.slice(index + 1)
      this.command({ words, redirects: [], assigns: false }, [], depth + 1, via === "guess" ? via : "wrapped")
    })
    return runsCommand
  }

  private wrapper({ args, depth, inputs, name, via }: Invocation, texts: ReadonlyArray<string>): boolean {
    if (Programs.readsArguments(name)) {
      this.dynamic = true
      if (Programs.readsProgramName(name, texts)) this.problem("what runs is read from the input", via)
    }
    if (/^(?:at|batch|crontab)$/.test(name)) this.problem(`${name} runs commands later`, via)
    if (name === "ssh") { for (const { text } of inputs) this.script(text, depth + 1, via) }
    return args.length > 0 && this.wrapped(args, depth, via)
  }

  private wrapped(args: ReadonlyArray<Word>, depth: number, via: Command["via"]): true {
    if (args.some(({ dynamic, fuzzy, text }) => (dynamic || fuzzy) && !Programs.assignmentWord.test(text))) {
      this.problem("the command that a program runs is dynamic", via)
    }
    this.suffixes(args, depth, via === "guess" ? via : "wrapped")
    return true
  }

  /** Collects a command from every argument at which one may begin, and from every argument that may be a script. */
  private suffixes(args: ReadonlyArray<Word>, depth: number, via: Command["via"]): void {
    if (depth > maxNesting) return this.problem("it is nested too deeply", via)
    if (args.length > maxArguments) {
      return this.problem("a command that may run another has too many arguments", "plain")
    }
    const from = this.commands.length
    args.forEach((word, index) => {
      const { text } = word
      if (/[\s;&|`$(]/.test(text) && !word.dynamic) {
        for (const script of possibleScripts(text)) this.script(script, depth + 1, via)
      }
      const [, value] = /^-[\w-]*=(\S+)$/.exec(text) ?? []
      if (value !== undefined) this.push([{ ...word, text: value }, ...args.slice(index + 1)], via)
      if (text === "" || text.startsWith("-") || Programs.assignmentWord.test(text)) return
      this.push(args.slice(index), via)
      const name = Programs.programName(text)
      // The command of a wrapper may itself run code, in a shell or an interpreter. Its arguments do not show that.
      if (
        index < 16 && this.commands.length - from < 256 &&
        (shells.has(name) || interpreters.has(name) || runsCode.has(name))
      ) {
        this.nested({ name, standard: true, args: args.slice(index + 1), inputs: [], depth: depth + 1, via })
      }
    })
  }

  private push(words: ReadonlyArray<Word>, via: Command["via"]): void {
    if (this.commands.length >= maxCommands) return this.problem("it has too many commands", "plain")
    const { text } = words[0]!
    const name = Programs.programName(text)
    const standard = Programs.isStandardProgram(text)
    this.commands.push({ words, name, standard, redirects: [], via, wraps: false, assigns: false })
  }
}

/** The scripts that an argument may contain: all of it, the value of an option, or what follows a flag. */
const possibleScripts = (text: string): ReadonlySet<string> =>
  new Set([
    text,
    text.slice(text.lastIndexOf("=") + 1),
    text.replace(/^[^\w/."'$(~-]+/, ""),
    text.replace(/^-+\w/, "")
  ])
