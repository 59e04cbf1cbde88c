/** Collects the commands of a script, and of the scripts that it runs. */
import { effectsOf } from "../code/codeOf.ts"
import type { CodeEffects } from "../code/effects.ts"
import * as Programs from "../nestedPrograms.ts"
import { inert, interpreters, shells, wrappers } from "../programs.ts"
import { readScript } from "../scriptReader.ts"
import type { Redirect, Simple, Word } from "../shellSyntax.ts"
import type { Command, ScriptFile } from "./command.ts"
import { type GivenArguments, givenArguments, pipedText, pipedWords } from "./pipes.ts"
import { producedBy } from "./producedText.ts"
import { shellScriptOf } from "./shellScript.ts"
import { Variables } from "./variables.ts"
import { optionScripts, wrappedCommand } from "./wrapperOptions.ts"

const maxCommands = 4_096
const maxArguments = 128
const maxNesting = 12

/** Variables whose values are commands. */
const commandVariable =
  /(?:COMMAND|PAGER|EDITOR|VISUAL|BROWSER|OPEN(?:ER)?|LESSCLOSE|ASKPASS|PROXY_?CMD|^(?:BASH_)?ENV|^PS[0-4])$/i

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
  readonly redirects: ReadonlyArray<Redirect>
  readonly pipe: Simple["pipe"]
  readonly depth: number
  readonly via: Command["via"]
}

/** What a command has besides its words. */
interface Surroundings extends Pick<Command, "assigns" | "redirects">, GivenArguments {
  readonly inputs: ReadonlyArray<Word>
  readonly pipe?: Simple["pipe"]
}

const alone: Surroundings = { assigns: false, redirects: [], inputs: [] }

/** Collects commands. A class: one mutable list is shared by methods that call each other. */
export class CommandCollector {
  readonly commands: Array<Command> = []
  readonly scripts: Array<ScriptFile> = []
  dynamic = false
  unknown: string | undefined
  /** Something is piped or redirected into a command, so a shell without arguments may read a script. */
  private hasInput = false
  private variables = new Variables([])
  readonly aliases = new Set<string>()

  /** `inherits`: the same shell runs it, so that it has the variables of the script around it. */
  script(text: string, depth: number, via: Command["via"], inherits = false): void {
    const script = readScript(text, depth)
    this.dynamic ||= script.dynamic
    if (script.problem !== undefined) this.problem(script.problem, via)
    this.hasInput ||= script.commands.some(({ inputs, pipe, redirects }) =>
      pipe !== undefined || inputs.length > 0 || redirects.some(({ op }) => op.startsWith("<"))
    )
    const outer = this.variables
    this.variables = new Variables(script.commands, inherits ? outer : undefined)
    for (const simple of script.commands) this.simple(simple, depth, via)
    this.variables = outer
  }

  /** Records why the commands of the line cannot be known. A mere guess cannot make a line unknown. */
  private problem(why: string, via: Command["via"]): void {
    if (via !== "guess") this.unknown ??= why
  }

  private simple({ assigns, inputs, pipe, redirects, words }: Simple, depth: number, via: Command["via"]): void {
    for (const { name, value } of assigns) this.assigned(name, value, depth, via)
    const outputs = words.flatMap(({ pieces = [] }) => pieces).flatMap((piece) =>
      piece.type === "output" ? piece.commands.map((one) => one.words.map(({ text }) => text)) : []
    )
    const surroundings: Surroundings = {
      assigns: assigns.length > 0,
      redirects: redirects.map(({ op, target }) => ({ op, target: this.variables.one(target) })),
      inputs: inputs.map((input) => this.variables.one(input)),
      ...(pipe === undefined ? {} : { pipe }),
      ...(outputs.length === 0 ? {} : { filesFrom: "$", inputOf: outputs })
    }
    if (words[0]?.pieces?.some((piece) => piece.type === "text" && !piece.quoted && /[{,]/.test(piece.text)) === true) {
      this.problem("the name of a program is dynamic", via)
    }
    for (const expanded of this.variables.expand(words)) this.command(expanded, surroundings, depth, via)
  }

  /** A variable that the line sets: its value may be a command, or make programs load code. */
  private assigned(name: string, value: Word, depth: number, via: Command["via"]): void {
    if (commandVariable.test(name)) {
      if (value.dynamic) this.problem(`${name} is dynamic`, via)
      else this.script(value.text, depth + 1, via)
    }
    if (loaderVariable.test(name)) this.problem(`${name} changes what programs do`, via)
  }

  private command(words: ReadonlyArray<Word>, around: Surroundings, depth: number, via: Command["via"]): void {
    if (this.commands.length >= maxCommands) return this.problem("it has too many commands", "plain")
    const { pipe, ...rest } = around
    const [first, ...args] = words
    if (first === undefined) {
      if (around.redirects.length > 0) {
        this.commands.push({ words, name: "", standard: true, via, wraps: false, ...rest })
      }
      return
    }
    const name = Programs.programName(first.text)
    const standard = Programs.isStandardProgram(first.text)
    const inputs = [...around.inputs, ...pipedText(pipe, this.variables)]
    const before = pipedWords(pipe, this.variables)
    const piped = before === undefined ? {} : { pipe: before }
    const found: Command = { words, name, standard, via, wraps: false, ...rest, ...piped, inputs }
    const index = this.commands.push(found) - 1
    if (isComputedName(first)) return this.problem("the name of a program is dynamic", via)
    const invocation: Invocation = { name, standard, args, inputs, redirects: around.redirects, pipe, depth, via }
    if (first.text.includes("/") && !standard) this.scripts.push({ path: first.text, type: "program" })
    const effects = this.code(invocation)
    if (effects !== undefined) {
      this.commands[index] = {
        ...found,
        effects,
        wraps: (effects.runs ?? []).length > 0 || effects.problem !== undefined
      }
      return
    }
    if (this.nested(invocation)) this.commands[index] = { ...found, wraps: true }
  }

  /** Reads code in other languages. Returns `undefined` for programs that get no code. */
  private code({ args, depth, inputs, name, via }: Invocation): CodeEffects | undefined {
    const effects = effectsOf(name, args, inputs, this.hasInput)
    if (effects?.problem !== undefined) this.problem(effects.problem, via)
    this.hasInput ||= effects?.pipes === true
    for (const script of effects?.runs ?? []) this.script(script, depth + 1, inner(via))
    return effects
  }

  /** Searches the arguments for commands. Returns whether the program can run any. */
  private nested(invocation: Invocation): boolean {
    const { args, depth, name, standard, via } = invocation
    const texts = args.map(({ text }) => text)
    if (name === "eval" || name === "trap") return this.evaluated(invocation)
    if (name === "source" || name === ".") return this.file(args[0], "shell", via)
    if (name === "alias") return this.alias(invocation)
    if (name === "hash" || name === "enable" || name === "bind" || name === "complete") {
      return texts.some((text) => /=|^-[pf]/.test(text)) && this.opaque(`${name} gives programs other names`, via)
    }
    if (shells.has(name)) return this.shell(invocation)
    if (Programs.isInterpreter(name)) return this.interpreter(invocation, texts)
    if (name === "find" || name === "gfind" || name === "fd" || name === "fdfind") return this.find(invocation)
    const scripts = optionScripts(name, args)
    for (const { dynamic, text } of scripts) {
      if (dynamic) this.problem(`what ${name} runs is dynamic`, via)
      this.script(text, depth + 1, via === "guess" ? via : "wrapped")
    }
    if (scripts.length > 0 && !wrappers.has(name)) return true
    if (name === "git") {
      const problem = Programs.gitProblem(texts)
      if (problem !== undefined) return this.opaque(problem, via)
      return Programs.gitRunsCommand(texts) && this.wrapped(args, depth, via)
    }
    if (name === "direnv" && texts[0] !== "exec") return false
    const problem = Programs.runsCodeOfOptions(name, texts)
    if (problem !== undefined) return this.opaque(problem, via)
    if (Programs.isPackageManager(name)) {
      const exact = wrappedCommand(name, args)
      if (exact !== undefined) return this.exactly(exact.words, invocation)
      return Programs.packageManagerRunsCommand(name, texts) && this.wrapped(args, depth, via)
    }
    if (wrappers.has(name)) return this.wrapper(invocation, texts)
    if (!inert.has(name) || !standard) this.suffixes(args, depth, "guess")
    return false
  }

  /** The commands that new names stand for. A line that uses such a name is not known. */
  private alias({ args, depth, via }: Invocation): boolean {
    for (const { dynamic, text } of args) {
      const [, name, value] = /^([^=]+)=([\s\S]*)$/.exec(text) ?? []
      if (name === undefined) continue
      if (dynamic) this.problem("alias gives programs other names", via)
      this.aliases.add(name)
      this.script(value!, depth + 1, inner(via))
    }
    return this.aliases.size > 0
  }

  private opaque(why: string, via: Command["via"]): true {
    this.problem(why, via)
    return true
  }

  /** A file whose code runs. */
  private file(word: Word | undefined, type: ScriptFile["type"], via: Command["via"]): true {
    if (word === undefined || word.dynamic || word.fuzzy || /^\/(?:dev|proc)\/|^-$/.test(word.text)) {
      return this.opaque("it reads commands from a file that cannot be known", via)
    }
    if (via !== "guess") this.scripts.push({ path: word.text, type })
    return true
  }

  private interpreter({ args, name, redirects, via }: Invocation, texts: ReadonlyArray<string>): boolean {
    if (Programs.interpreterRunsInlineCode(name, texts)) {
      const isIdle = !this.hasInput && redirects.every(({ op }) => op === ">") &&
        texts.every((text) => /^-[iqu]?$/.test(text) && text !== "-")
      return !isIdle && this.opaque(`${name} runs code that is not shell`, via)
    }
    if (texts.includes("-m")) return false
    const file = args.find(({ text }) => !text.startsWith("-"))
    if (args.some(({ text }) => /^(?:https?|data):/.test(text)) && /^(?:deno|bun|node)$/.test(name)) {
      return this.opaque(`${name} runs code from the network`, via)
    }
    if (file !== undefined && !/^(?:deno|bun)$/.test(name)) this.file(file, "code", via)
    return false
  }

  /** `eval` and `trap`: their arguments are a script. */
  private evaluated({ args, depth, name, via }: Invocation): true {
    const code = name === "eval" ? args.filter(({ text }) => text !== "--") : args.slice(0, 1)
    if (code.some(({ dynamic, fuzzy }) => dynamic || fuzzy)) this.problem(`what ${name} runs is dynamic`, via)
    else this.script(code.map(({ text }) => text).join(" "), depth + 1, via, true)
    return true
  }

  /** A shell: it reads a script from an argument, from its input or from a file. */
  private shell({ args, depth, inputs, name, redirects, via }: Invocation): boolean {
    if (name === "cmd" || name === "powershell" || name === "pwsh") {
      this.suffixes(args, depth, via)
      return this.opaque(`${name} has another language`, via)
    }
    const mayHaveInput = this.hasInput || redirects.some(({ op }) => op.startsWith("<"))
    const script = shellScriptOf(args, inputs, mayHaveInput)
    if (script.type === "nothing") return false
    if (script.type === "file") return this.file(script.file, "shell", via)
    if (script.type === "unknown") return this.opaque(`${name} reads commands from a file or its input`, via)
    for (const { dynamic, fuzzy, text } of script.texts) {
      if (dynamic || (fuzzy && inputs.length === 0)) this.problem(`what ${name} runs is dynamic`, via)
      this.script(text, depth + 1, via)
    }
    return script.readsFile ? this.opaque(`${name} reads a file first`, via) : true
  }

  private find({ args, depth, name, via }: Invocation): boolean {
    let runsCommand = false
    const firstRun = args.findIndex(({ text }) => runOption.test(text))
    const more = firstRun < 0
      ? undefined
      : producedBy([
        { text: name === "fdfind" ? "fd" : name, dynamic: false, fuzzy: false },
        ...args.slice(0, firstRun)
      ])
    args.forEach(({ text }, index) => {
      if (!runOption.test(text)) return
      runsCommand = true
      this.dynamic = true
      const rest = args.slice(index + 1)
      const end = rest.findIndex((word) => word.text === ";" || word.text === "+")
      const words = end < 0 ? rest : rest.slice(0, end)
      const around: Surroundings = { ...alone, filesFrom: name, ...(more === undefined ? {} : { more }) }
      this.command(words, around, depth + 1, via === "guess" ? via : "wrapped")
    })
    return runsCommand
  }

  private wrapper(invocation: Invocation, texts: ReadonlyArray<string>): boolean {
    const { args, depth, inputs, name, via } = invocation
    if (Programs.readsArguments(name)) {
      this.dynamic = true
      if (Programs.readsProgramName(name, texts)) this.problem("what runs is read from the input", via)
    }
    if (name === "crontab") {
      const readsInput = texts.every((text, index) => text === "-u" || texts[index - 1] === "-u")
      if (!readsInput && texts.every((text, index) => /^-[lur]$/.test(text) || texts[index - 1] === "-u")) return false
      return this.opaque("crontab runs commands later", via)
    }
    if (/^(?:at|batch)$/.test(name)) this.problem(`${name} runs commands later`, via)
    if (name === "ssh") { for (const { text } of inputs) this.script(text, depth + 1, via) }
    if (args.length === 0) return false
    const exact = wrappedCommand(name, args)
    if (exact === undefined) {
      return this.wrapped(
        args,
        depth,
        via,
        Programs.readsArguments(name) ? givenArguments(name, invocation.pipe, this.variables) : {}
      )
    }
    for (const word of args.slice(0, args.length - exact.words.length)) {
      const [, variable, value] = /^([A-Za-z_]\w*)=([\s\S]*)$/.exec(word.text) ?? []
      if (variable !== undefined) this.assigned(variable, { ...word, text: value! }, depth, via)
    }
    if (exact.words.length === 0) return this.loginShell(invocation)
    if (exact.joins) {
      if (exact.words.some(({ dynamic }) => dynamic) && exact.words[0]!.dynamic) {
        this.problem(`what ${name} runs is dynamic`, via)
      }
      this.script(
        exact.words.map(({ dynamic, text }) => dynamic ? text.replaceAll("$", "x") : text).join(" "),
        depth + 1,
        inner(via)
      )
      return true
    }
    return this.exactly(exact.words, invocation)
  }

  /** `sudo -s` or `ssh host`: without a command, a shell reads its input. */
  private loginShell({ depth, inputs, name, pipe, redirects, via }: Invocation): true {
    if (!/^(?:sudo|doas|ssh|chroot|unshare|su)$/.test(name)) return true
    for (const { text } of inputs) this.script(text, depth + 1, inner(via))
    const isUnread = pipe !== undefined && inputs.length === 0
    if (isUnread || redirects.some(({ op }) => op.startsWith("<"))) {
      this.problem(`${name} reads commands from its input`, via)
    }
    return true
  }

  /** The command of a wrapper, whose place among the arguments is known. */
  private exactly(written: ReadonlyArray<Word>, { depth, inputs, name, pipe, redirects: all, via }: Invocation): true {
    const words = /^(?:npx|bunx|pnpx|npm|pnpm|yarn|uvx|pipx)$/.test(name) ? withoutVersion(written) : written
    const redirects = all.filter(({ op }) => op === "<")
    if (depth > maxNesting) this.problem("it is nested too deeply", via)
    else if (!Programs.readsArguments(name)) {
      this.command(
        words,
        { ...alone, inputs, redirects, ...(pipe === undefined ? {} : { pipe }) },
        depth + 1,
        inner(via)
      )
    } else this.command(words, { ...alone, ...givenArguments(name, pipe, this.variables) }, depth + 1, inner(via))
    return true
  }

  private wrapped(
    args: ReadonlyArray<Word>,
    depth: number,
    via: Command["via"],
    given: GivenArguments = {}
  ): true {
    if (args.some(({ dynamic, fuzzy, text }) => (dynamic || fuzzy) && !Programs.assignmentWord.test(text))) {
      this.problem("the command that a program runs is dynamic", via)
    }
    this.suffixes(args, depth, inner(via), given)
    return true
  }

  /** Collects a command from every argument at which one may begin, and from every argument that may be a script. */
  private suffixes(
    all: ReadonlyArray<Word>,
    depth: number,
    via: Command["via"],
    given: GivenArguments = {}
  ): void {
    const args = all.filter(({ text }) => text !== "--")
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
      this.push(args.slice(index), via, given)
      const name = Programs.programName(text)
      // The command of a wrapper may itself run code, in a shell or an interpreter. Its arguments do not show that.
      if (
        index < 16 && this.commands.length - from < 256 &&
        (shells.has(name) || interpreters.has(name) || runsCode.has(name))
      ) {
        const rest = args.slice(index + 1)
        const invocation = {
          name,
          standard: true,
          args: rest,
          inputs: [],
          redirects: [],
          pipe: undefined,
          depth: depth + 1,
          via
        }
        if (this.code(invocation) === undefined) this.nested(invocation)
      }
    })
  }

  private push(
    words: ReadonlyArray<Word>,
    via: Command["via"],
    given: GivenArguments = {}
  ): void {
    if (this.commands.length >= maxCommands) return this.problem("it has too many commands", "plain")
    const { text } = words[0]!
    const name = Programs.programName(text)
    const standard = Programs.isStandardProgram(text)
    this.commands.push({ words, name, standard, redirects: [], via, wraps: false, assigns: false, ...given })
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

const runOption = /^(?:-exec|-execdir|-ok|-okdir|-x|-X|--exec|--exec-batch)$/

/** A command inside of another one. */
const inner = (via: Command["via"]): Command["via"] => via === "guess" ? via : "wrapped"

/** The words of a package's command, without the version in `name@1.0.0`. */
const withoutVersion = ([first, ...rest]: ReadonlyArray<Word>): ReadonlyArray<Word> =>
  first === undefined ? [] : [{ ...first, text: first.text.replace(/(?<=.)@[^/]*$/, "") }, ...rest]

/** Whether the program is not known: its name is computed, unless only its folder is. */
const isComputedName = ({ dynamic, fuzzy, splits, text }: Word): boolean =>
  (dynamic && (splits !== false || !/\/[\w.+-]+$/.test(text))) || fuzzy || text.startsWith("=") || text.includes("{}")
