/** Finds the commands that other commands run: behind wrappers, and among the arguments of unknown programs. */
import * as Programs from "../syntax/nestedPrograms.ts"
import { interpreters, shells } from "../syntax/programs.ts"
import type { Redirect, Simple, Word } from "../syntax/shellSyntax.ts"
import type { Command } from "./command.ts"
import { type GivenArguments, givenArguments } from "./pipes.ts"
import { producedBy } from "./producedText.ts"
import { Variables } from "./variables.ts"
import { wrappedCommand } from "./wrapperOptions.ts"

export const maxCommands = 4_096
const maxArguments = 128
const maxNesting = 12

/** Variables whose values are commands. */
const commandVariable = new RegExp(
  "(?:COMMAND|PAGER|EDITOR|VISUAL|BROWSER|OPEN(?:ER)?|LESSCLOSE|ASKPASS|PROXY_?CMD|EXTERNAL_DIFF|_RSH|" +
    "(?:GIT|SVN)_SSH|^(?:BASH_)?ENV|^PS[0-4])$",
  "i"
)

/** Variables that make other programs load code. */
const loaderVariable = new RegExp(
  String.raw`^(?:LD_PRELOAD|LD_LIBRARY_PATH|DYLD_\w+|PERL5OPT|RUBYOPT|PYTHONSTARTUP|GIT_CONFIG\w*|BASH_FUNC\w*|` +
    "TAR_OPTIONS|MAKEFLAGS)$"
)

/** Programs that run code in their arguments, so the arguments after them are searched again. */
const runsCode: ReadonlySet<string> = new Set(
  ["eval", "source", ".", "awk", "gawk", "sed", "git", "xargs", "find", "trap"]
)

/** A program with its arguments, in which commands are searched for. */
export interface Invocation {
  readonly name: string
  readonly standard: boolean
  readonly args: ReadonlyArray<Word>
  readonly inputs: ReadonlyArray<Word>
  readonly redirects: ReadonlyArray<Redirect>
  readonly pipe: Simple["pipe"]
  readonly depth: number
  readonly via: Command["via"]
  readonly filesFrom: string | undefined
}

/** The parts of a command that are not its words. */
export interface Surroundings extends Pick<Command, "assigns" | "redirects">, GivenArguments {
  readonly inputs: ReadonlyArray<Word>
  readonly pipe?: Simple["pipe"]
}

const alone: Surroundings = { assigns: false, redirects: [], inputs: [] }

/**
 * The list of commands, and the methods that add those which others run. A class: one mutable list is shared by methods
 * that call each other. What a single command is, the subclass knows.
 */
export abstract class WrappedCommands {
  readonly commands: Array<Command> = []
  dynamic = false
  unknown: string | undefined
  protected variables = new Variables([])

  /** Collects the commands of a script. `inherits`: the same shell runs it, so that it has the variables around it. */
  abstract script(text: string, depth: number, via: Command["via"], inherits?: boolean): void

  /** The line has set where programs are searched, so a name may mean any program. */
  protected hasOwnPath = false

  /** Adds a command, and those that it runs. */
  protected abstract command(words: ReadonlyArray<Word>, around: Surroundings, depth: number, via: Command["via"]): void

  /** Adds the commands that a program runs, without adding the program. */
  protected abstract inspect(invocation: Invocation): void

  /** Records why the commands of the line cannot be known. A mere guess cannot make a line unknown. */
  protected problem(why: string, via: Command["via"]): void {
    if (via !== "guess") this.unknown ??= why
  }

  protected opaque(why: string, via: Command["via"]): true {
    this.problem(why, via)
    return true
  }

  /** A variable that the line sets: its value may be a command, or make programs load code. */
  protected assigned(name: string, value: Word, depth: number, via: Command["via"]): void {
    if (commandVariable.test(name)) {
      // A prompt is only shown, except the one that traces commands.
      if (value.dynamic && !/^PS[0-3]$/.test(name)) this.problem(`${name} is dynamic`, via)
      else this.script(value.text, depth + 1, via)
    }
    if (/^(?:BASH_)?ENV$/.test(name)) this.problem(`shells read the file in ${name}`, via)
    if (name.startsWith("TF_CLI_ARGS") && /destroy/.test(value.text)) this.problem(`${name} adds arguments`, via)
    if (name === "PATH") this.hasOwnPath = true
    if (loaderVariable.test(name)) this.problem(`${name} changes what programs do`, via)
  }

  protected find({ args, depth, name, via }: Invocation): boolean {
    let runsCommand = false
    const firstRun = args.findIndex(({ text }) => runOption.test(text))
    const more = firstRun < 0
      ? undefined
      : producedBy([
        { text: name === "fdfind" ? "fd" : name, dynamic: false, fuzzy: false },
        ...args.slice(0, firstRun),
        // A command that runs prints nothing else, as if this stood there.
        ...(name.endsWith("find") ? [{ text: "-print", dynamic: false, fuzzy: false }] : [])
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

  protected wrapper(invocation: Invocation, texts: ReadonlyArray<string>): boolean {
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
    if (/^(?:ssh|su|runuser)$/.test(name)) { for (const { text } of inputs) this.script(text, depth + 1, via) }
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
  protected loginShell({ depth, inputs, name, pipe, redirects, via }: Invocation): true {
    if (!/^(?:sudo|doas|ssh|chroot|unshare|su)$/.test(name)) return true
    for (const { text } of inputs) this.script(text, depth + 1, inner(via))
    const isUnread = pipe !== undefined && inputs.length === 0
    if (isUnread || redirects.some(({ op }) => op.startsWith("<"))) {
      this.problem(`${name} reads commands from its input`, via)
    }
    return true
  }

  /** The command of a wrapper, whose place among the arguments is known. */
  protected exactly(
    written: ReadonlyArray<Word>,
    { depth, inputs, name, pipe, redirects: all, via }: Invocation
  ): true {
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

  protected wrapped(
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
  protected suffixes(
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
          via,
          filesFrom: undefined
        }
        this.inspect(invocation)
      }
    })
  }

  protected push(
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
export const inner = (via: Command["via"]): Command["via"] => via === "guess" ? via : "wrapped"

/** The words of a package's command, without the version in `name@1.0.0`. */
const withoutVersion = ([first, ...rest]: ReadonlyArray<Word>): ReadonlyArray<Word> =>
  first === undefined ? [] : [{ ...first, text: first.text.replace(/(?<=.)@[^/]*$/, "") }, ...rest]
