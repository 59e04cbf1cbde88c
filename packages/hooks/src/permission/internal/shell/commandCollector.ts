/** Collects the commands of a script, and of the scripts that it runs. */
import { effectsOf } from "../code/codeOf.ts"
import type { CodeEffects } from "../code/effects.ts"
import * as Programs from "../syntax/nestedPrograms.ts"
import { inert, shells, wrappers } from "../syntax/programs.ts"
import { readScript } from "../syntax/scriptReader.ts"
import type { Simple, Word } from "../syntax/shellSyntax.ts"
import { clientScripts } from "./clientScripts.ts"
import type { Command, ScriptFile } from "./command.ts"
import { type GivenArguments, pipedText, pipedWords } from "./pipes.ts"
import { shellScriptOf } from "./shellScript.ts"
import { declarations, Variables } from "./variables.ts"
import { inner, type Invocation, maxCommands, type Surroundings, WrappedCommands } from "./wrappedCommands.ts"
import { optionScripts, wrappedCommand } from "./wrapperOptions.ts"

/** Collects commands. A class: one mutable list is shared by methods that call each other. */
export class CommandCollector extends WrappedCommands {
  readonly scripts: Array<ScriptFile> = []
  /** Something is piped or redirected into a command, so a shell without arguments may read a script. */
  private hasInput = false
  /** The program that gives arguments to the script that is read now, as `find -exec sh -c` does. */
  private given: GivenArguments = {}
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

  private simple({ assigns, inputs, pipe, redirects, words }: Simple, depth: number, via: Command["via"]): void {
    const hadOwnPath = this.hasOwnPath
    const declared = declarations.test(words[0]?.text ?? "") ? words.slice(1).flatMap(assignmentIn) : []
    for (const { name, value } of [...assigns, ...declared]) this.assigned(name, value, depth, via)
    const outputs = words.flatMap(({ pieces = [] }) => pieces).flatMap((piece) =>
      piece.type === "output" ? piece.commands.map((one) => one.words.map(({ text }) => text)) : []
    )
    const surroundings: Surroundings = {
      assigns: assigns.length > 0,
      redirects: redirects.map(({ op, target }) => ({ op, target: this.variables.one(target) })),
      inputs: inputs.map((input) => this.variables.one(input)),
      ...(pipe === undefined ? {} : { pipe }),
      ...(outputs.length === 0 ? {} : { filesFrom: "$", inputOf: outputs }),
      ...(words.some(({ pieces = [] }) => pieces.some(({ type }) => type === "variable")) ? this.given : {})
    }
    if (words[0]?.pieces?.some((piece) => piece.type === "text" && !piece.quoted && /[{,]/.test(piece.text)) === true) {
      this.problem("the name of a program is dynamic", via)
    }
    for (const expanded of this.variables.expand(words)) this.command(expanded, surroundings, depth, via)
    // Variables before a program are for this program only.
    if (words.length > 0 && declared.length === 0) this.hasOwnPath = hadOwnPath
  }

  protected command(words: ReadonlyArray<Word>, around: Surroundings, depth: number, via: Command["via"]): void {
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
    const standard = Programs.isStandardProgram(first.text) && (!this.hasOwnPath || first.text.includes("/"))
    const inputs = [...around.inputs, ...pipedText(pipe, this.variables)]
    const before = pipedWords(pipe, this.variables)
    const piped = before === undefined ? {} : { pipe: before }
    const found: Command = { words, name, standard, via, wraps: false, ...rest, ...piped, inputs }
    const index = this.commands.push(found) - 1
    if (isComputedName(first)) return this.problem("the name of a program is dynamic", via)
    const invocation: Invocation = {
      name,
      standard,
      args,
      inputs,
      redirects: around.redirects,
      pipe,
      depth,
      via,
      filesFrom: around.filesFrom
    }
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

  protected inspect(invocation: Invocation): void {
    if (this.code(invocation) === undefined) this.nested(invocation)
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
    const scripts = [...optionScripts(name, args), ...clientScripts(name, args, invocation.inputs)]
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

  /** A file whose code runs. */
  private file(word: Word | undefined, type: ScriptFile["type"], via: Command["via"]): true {
    if (word === undefined || word.dynamic || word.fuzzy || /^\/(?:dev|proc)\/|^-$/.test(word.text)) {
      return this.opaque("it reads commands from a file that cannot be known", via)
    }
    if (via !== "guess") this.scripts.push({ path: word.text, type })
    return true
  }

  private interpreter(invocation: Invocation, texts: ReadonlyArray<string>): boolean {
    const { args, name, redirects, via } = invocation
    const at = texts.findIndex((text) => text.startsWith("npm:"))
    if (name === "deno" && at >= 0) {
      const program = { ...args[at]!, text: texts[at]!.replace(/^npm:\/?|(?<=.)@[^/]*$/g, "") }
      return this.exactly([program, ...args.slice(at + 1)], invocation)
    }
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
  private shell({ args, depth, filesFrom, inputs, name, redirects, via }: Invocation): boolean {
    if (name === "cmd" || name === "powershell" || name === "pwsh") {
      this.suffixes(args, depth, via)
      return this.opaque(`${name} has another language`, via)
    }
    const mayHaveInput = this.hasInput || redirects.some(({ op }) => op.startsWith("<"))
    const script = shellScriptOf(args, inputs, mayHaveInput)
    if (script.type === "nothing") return false
    if (script.type === "file") return this.file(script.file, "shell", via)
    if (script.type === "unknown") return this.opaque(`${name} reads commands from a file or its input`, via)
    const outer = this.given
    this.given = filesFrom === undefined || filesFrom === "$" ? outer : { filesFrom }
    for (const { dynamic, fuzzy, text } of script.texts) {
      if (dynamic || (fuzzy && inputs.length === 0)) this.problem(`what ${name} runs is dynamic`, via)
      this.script(text, depth + 1, via)
    }
    this.given = outer
    return script.readsFile ? this.opaque(`${name} reads a file first`, via) : true
  }
}

/** The variable that a word of `export` sets. */
const assignmentIn = ({ dynamic, fuzzy, text }: Word): ReadonlyArray<Simple["assigns"][number]> => {
  const [, name, value] = /^(\w+)=([\s\S]*)$/.exec(text) ?? []
  return name === undefined ? [] : [{ name, value: { text: value!, dynamic, fuzzy } }]
}

/** Whether the program is not known: its name is computed, unless only its folder is. */
const isComputedName = ({ dynamic, fuzzy, splits, text }: Word): boolean =>
  (dynamic && (splits !== false || !/\/[\w.+-]+$/.test(text))) || fuzzy || text.startsWith("=") || text.includes("{}")
