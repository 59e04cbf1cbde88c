/** Takes a line of shell apart: every command that it may run, and why it cannot be told when it cannot. */
import { read } from "./lex.ts"
import { inert, interpreters, isSystem, shells, wrappers } from "./names.ts"
import type { Redirect, Simple, Word } from "./script.ts"

export type { Word } from "./script.ts"

/** One command. */
export interface Command {
  readonly words: ReadonlyArray<Word>
  /** The program's name without its folder, in lower case. */
  readonly name: string
  /** Named without a folder, or in one of the system: it is the program of that name. */
  readonly standard: boolean
  readonly redirects: ReadonlyArray<Redirect>
  /** `plain` stands there as it is, `wrapped` is run by another, `guess` may be run by a program nobody knows. */
  readonly via: "plain" | "wrapped" | "guess"
  /** Runs a command that stands in its arguments. */
  readonly wraps: boolean
  /** Variables are set for it. */
  readonly assigns: boolean
}

export interface Decomposed {
  readonly commands: ReadonlyArray<Command>
  /** A variable, a parameter or a substitution is in it. */
  readonly dynamic: boolean
  /** Why it cannot be told what runs. */
  readonly unknown: string | undefined
}

const maxCommands = 4_096
const maxSuffixes = 128

/** Takes a line apart. The last few are remembered: several rules ask about one call. */
export const decompose = (text: string): Decomposed => {
  const known = remembered.get(text)
  if (known !== undefined) return known
  const made = taken(text)
  if (remembered.size >= 32) remembered.clear()
  remembered.set(text, made)
  return made
}

const remembered = new Map<string, Decomposed>()

const taken = (text: string): Decomposed => {
  const all = new Collected()
  all.script(text, 0, "plain")
  // Other shells take other spaces, and `^` for an escape.
  if (text.includes("^") || text.search(spaces) >= 0 || text.search(invisible) >= 0) {
    const seen = text.normalize("NFKC").replaceAll(invisible, "").replaceAll(spaces, " ").replaceAll("^", "")
    const other = new Collected()
    other.script(seen, 0, "plain")
    all.commands.push(...other.commands.map((command) => ({ ...command, via: "guess" as const })))
  }
  return { commands: all.commands, dynamic: all.dynamic, unknown: all.unknown }
}

const spaces = /[\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\u0085\v\f]/g
const invisible = /[\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff]/g

/** What has been found so far. A class: one mutable list under functions that call each other. */
class Collected {
  readonly commands: Array<Command> = []
  dynamic = false
  unknown: string | undefined

  script(text: string, depth: number, via: Command["via"]): void {
    const script = read(text, depth)
    this.dynamic ||= script.dynamic
    if (script.problem !== undefined && via !== "guess") this.unknown ??= script.problem
    for (const simple of script.commands) this.simple(simple, depth, via)
  }

  private cannot(why: string, via: Command["via"]): void {
    if (via !== "guess") this.unknown ??= why
  }

  private simple({ assigns, inputs, redirects, words }: Simple, depth: number, via: Command["via"]): void {
    for (const { name, value } of assigns) {
      if (/(?:COMMAND|PAGER|EDITOR|VISUAL|BROWSER|OPENER?|ASKPASS|PROXY_?CMD|^(?:BASH_)?ENV|^PS[0-4])$/i.test(name)) {
        if (value.dynamic) this.cannot(`${name} is computed`, via)
        else this.script(value.text, depth + 1, via)
      }
      if (
        /^(?:LD_PRELOAD|LD_LIBRARY_PATH|DYLD_\w+|PERL5OPT|RUBYOPT|PYTHONSTARTUP|GIT_CONFIG\w*|BASH_FUNC\w*)$/.test(name)
      ) {
        this.cannot(`${name} changes what programs do`, via)
      }
    }
    this.command(words, redirects, inputs, depth, via, assigns.length > 0)
  }

  private command(
    words: ReadonlyArray<Word>,
    redirects: ReadonlyArray<Redirect>,
    inputs: ReadonlyArray<Word>,
    depth: number,
    via: Command["via"],
    assigns = false
  ): void {
    if (this.commands.length >= maxCommands) return this.cannot("it has too many commands", "plain")
    const [first, ...rest] = words
    if (first === undefined) {
      if (redirects.length > 0) {
        this.commands.push({ words, name: "", standard: true, redirects, via, wraps: false, assigns })
      }
      return
    }
    const name = nameOf(first.text)
    const standard = isStandard(first.text)
    const index = this.commands.push({ words, name, standard, redirects, via, wraps: false, assigns }) - 1
    if (first.dynamic || first.fuzzy || first.text.startsWith("=") || first.text.includes("{}")) {
      return this.cannot("the name of a program is computed", via)
    }
    if (this.inner(name, standard, rest, inputs, depth, via)) {
      this.commands[index] = { words, name, standard, redirects, via, wraps: true, assigns }
    }
  }

  /** Looks for commands among the arguments; true when there is room for one. */
  private inner(
    name: string,
    standard: boolean,
    rest: ReadonlyArray<Word>,
    inputs: ReadonlyArray<Word>,
    depth: number,
    via: Command["via"]
  ): boolean {
    const texts = rest.map(({ text }) => text)
    if (name === "eval" || name === "trap") {
      const code = name === "eval" ? rest.filter(({ text }) => text !== "--") : rest.slice(0, 1)
      if (code.some(({ dynamic, fuzzy }) => dynamic || fuzzy)) this.cannot(`what ${name} runs is computed`, via)
      else this.script(code.map(({ text }) => text).join(" "), depth + 1, via)
      return true
    }
    if (name === "source" || name === ".") return this.opaque("a file of commands is read", via)
    if (name === "alias" || name === "hash" || name === "enable" || name === "bind" || name === "complete") {
      return rest.some(({ text }) => /=|^-[pf]/.test(text))
        ? this.opaque(`${name} gives programs other names`, via)
        : false
    }
    if (shells.has(name)) return this.shell(name, rest, inputs, depth, via)
    if (interpreters.has(name.replace(/[\d.]+$/, "")) || interpreters.has(name)) return this.code(name, texts, via)
    if (/^[gmn]?awk$/.test(name)) {
      return texts.some((text) => /system|getline|[|>@]|^-(?:f|i|l|E)|^--(?:file|include|load|exec)/.test(text))
        ? this.opaque("an awk program may run commands", via)
        : false
    }
    if (name === "sed" || name === "gsed") {
      return texts.some((text) => sedRuns.test(text))
        ? this.opaque("a sed script may run commands", via)
        : false
    }
    if (name === "find" || name === "gfind" || name === "fd" || name === "fdfind") return this.find(rest, depth, via)
    if (name === "git") return this.git(rest, depth, via)
    if (
      /^(?:npm|pnpm|yarn|bun|uv|poetry|bundle|cargo|go|docker|podman|nerdctl|kubectl|oc|vagrant|pipenv|rye|hatch|conda|mamba|nix|mise|asdf|volta|corepack|make|gmake|just|task)$/
        .test(name)
    ) {
      const runs = texts.some((text) =>
        /^(?:exec|x|dlx|-c|--call|ssh|shell|with|--eval)$/.test(text) || /^--(?:call|eval)=/.test(text)
      ) ||
        (/^(?:docker|podman|nerdctl|kubectl|oc|uv|poetry|pipenv|rye|hatch|conda|mamba|nix)$/.test(name) &&
          texts.includes("run")) ||
        (name === "nix" && texts.includes("develop"))
      return runs ? this.wrapped(rest, depth, via) : false
    }
    if (wrappers.has(name)) {
      if (/^(?:xargs|gxargs|parallel|entr)$/.test(name)) {
        this.dynamic = true
        if (fedWhole(name, texts)) this.cannot("what runs is read from the input", via)
      }
      if (/^(?:at|batch|crontab)$/.test(name)) this.cannot(`${name} runs commands later`, via)
      if (name === "ssh" && inputs.length > 0) { for (const { text } of inputs) this.script(text, depth + 1, via) }
      return rest.length > 0 && this.wrapped(rest, depth, via)
    }
    if (inert.has(name) && standard) return false
    this.suffixes(rest, depth, "guess")
    return false
  }

  private opaque(why: string, via: Command["via"]): true {
    this.cannot(why, via)
    return true
  }

  private shell(
    name: string,
    rest: ReadonlyArray<Word>,
    inputs: ReadonlyArray<Word>,
    depth: number,
    via: Command["via"]
  ): boolean {
    if (rest.length > 0 && rest.every(({ text }) => /^--(?:version|help)$/.test(text))) return false
    if (name === "cmd" || name === "powershell" || name === "pwsh") {
      this.suffixes(rest, depth, via)
      return this.opaque(`${name} has a language of its own`, via)
    }
    const at = rest.findIndex(({ text }) => /^[-+][a-zA-Z]*c[a-zA-Z]*$/.test(text))
    if (at >= 0) {
      const code = rest.slice(at + 1).find(({ text }) => !/^[-+]/.test(text))
      if (code === undefined || code.dynamic || code.fuzzy) return this.opaque(`what ${name} runs is computed`, via)
      this.script(code.text, depth + 1, via)
      if (rest.slice(0, at).some(({ dynamic, text }) => dynamic || /^--(?:rc|init)/.test(text))) {
        this.cannot(`${name} reads a file first`, via)
      }
      return true
    }
    if (inputs.length > 0 && rest.every(({ text }) => /^-(?:[exuls]+)?$/.test(text))) {
      for (const { dynamic, text } of inputs) {
        if (dynamic) this.cannot(`what ${name} runs is computed`, via)
        this.script(text, depth + 1, via)
      }
      return true
    }
    return this.opaque(`${name} reads commands from elsewhere`, via)
  }

  private code(name: string, texts: ReadonlyArray<string>, via: Command["via"]): boolean {
    if (texts.length > 0 && /^(?:-v|-V|-h|--version|--help|--test)$/.test(texts[0]!)) return false
    const own = texts.slice(0, texts.findIndex((text) => !text.startsWith("-")) + 1 || undefined)
    const inline = own.some((text) =>
      text === "-" || /^-[a-zA-Z]*[ceErRpxMmB]/.test(text) && text !== "-m" ||
      /^--(?:eval|print|require|import|run)/.test(text)
    )
    const subcommand = (name === "deno" || name === "bun") && texts.some((text) => /^(?:eval|x|repl)$/.test(text))
    return inline || subcommand || operands(texts).length === 0
      ? this.opaque(`${name} runs code that is not shell`, via)
      : false
  }

  private find(rest: ReadonlyArray<Word>, depth: number, via: Command["via"]): boolean {
    let runs = false
    rest.forEach(({ text }, index) => {
      if (!/^(?:-exec|-execdir|-ok|-okdir|-x|-X|--exec|--exec-batch)$/.test(text)) return
      runs = true
      this.dynamic = true
      this.command(rest.slice(index + 1), [], [], depth + 1, via === "guess" ? via : "wrapped")
    })
    return runs
  }

  private git(rest: ReadonlyArray<Word>, depth: number, via: Command["via"]): boolean {
    const texts = rest.map(({ text }) => text)
    const settings = texts.some((text) =>
      /^(?:-c|--config-env)?=?(?:alias\.|[\w.-]*(?:editor|pager|sshcommand|fsmonitor|hookspath|askpass|helper|textconv|external|command|proxy|program|\.cmd|path|process|clean|smudge|driver)\b)/i
        .test(text)
    )
    const takesSettings = texts.some((text) =>
      text === "-c" || text === "config" || text.startsWith("--config-env") || /^-c./.test(text)
    )
    if (settings && takesSettings) return this.opaque("settings of git may run commands", via)
    if (
      texts.some((text) =>
        /^--(?:exec-path|upload-pack|receive-pack|exec|extcmd|open-files-in-pager)=./.test(text) ||
        text.startsWith("ext::")
      )
    ) {
      return this.opaque("an option of git may run commands", via)
    }
    const sub = texts.find((text) =>
      /^(?:bisect|submodule|rebase|filter-branch|difftool|mergetool|for-each-repo)$/.test(text)
    )
    if (
      sub === undefined ||
      !texts.some((text) => /^(?:run|foreach|-x|--exec|-y|--extcmd|--\w+-filter)$/.test(text)) &&
        sub !== "for-each-repo"
    ) return false
    return this.wrapped(rest, depth, via)
  }

  private wrapped(rest: ReadonlyArray<Word>, depth: number, via: Command["via"]): true {
    if (rest.some(({ dynamic, fuzzy, text }) => (dynamic || fuzzy) && !/^[A-Za-z_]\w*=/.test(text))) {
      this.cannot("what a program is told to run is computed", via)
    }
    this.suffixes(rest, depth, via === "guess" ? via : "wrapped")
    return true
  }

  /** Every place among the arguments where a command may begin, and every argument that may be a script. */
  private suffixes(rest: ReadonlyArray<Word>, depth: number, via: Command["via"]): void {
    if (depth > 12) return this.cannot("it is nested too deeply", via)
    if (rest.length > maxSuffixes) return this.cannot("a command that may run another has too many arguments", "plain")
    const from = this.commands.length
    rest.forEach((word, index) => {
      const { text } = word
      if (/[\s;&|`$(]/.test(text) && !word.dynamic) {
        for (
          const script of new Set([
            text,
            text.slice(text.lastIndexOf("=") + 1),
            text.replace(/^[^\w/."'$(~-]+/, ""),
            text.replace(/^-+\w/, "")
          ])
        ) {
          this.script(script, depth + 1, via)
        }
      }
      const [, value] = /^-[\w-]*=(\S+)$/.exec(text) ?? []
      if (value !== undefined) this.push([{ ...word, text: value }, ...rest.slice(index + 1)], via)
      if (text === "" || text.startsWith("-") || assigned.test(text)) return
      this.push(rest.slice(index), via)
      const name = nameOf(text)
      // What a wrapper runs may itself run something else, which no suffix shows: a shell with code, an interpreter.
      if (
        index < 16 && this.commands.length - from < 256 &&
        (shells.has(name) || interpreters.has(name) || deep.has(name))
      ) {
        this.inner(name, true, rest.slice(index + 1), [], depth + 1, via)
      }
    })
  }

  private push(words: ReadonlyArray<Word>, via: Command["via"]): void {
    if (this.commands.length >= maxCommands) return this.cannot("it has too many commands", "plain")
    const { text } = words[0]!
    this.commands.push({
      words,
      name: nameOf(text),
      standard: isStandard(text),
      redirects: [],
      via,
      wraps: false,
      assigns: false
    })
  }
}

/** Whether a command that gets words from an input may get the name of a program from there. */
const fedWhole = (name: string, texts: ReadonlyArray<string>): boolean => {
  const at = texts.findIndex((text) => /^(?:-I|-J|-i|--replace|--replace=.*|-I.+)$/.test(text))
  const sign = at < 0
    ? "{}"
    : texts[at] === "-I" || texts[at] === "-J"
    ? texts[at + 1] ?? "{}"
    : /^(?:-I|--replace=)(.+)$/.exec(texts[at]!)?.[1] ?? "{}"
  const value = texts[at] === "-I" || texts[at] === "-J" ? at + 1 : -1
  const own = texts.filter((text, index) =>
    !/^[-+]/.test(text) && index !== value && !/^\d+$/.test(text) && !assigned.test(text)
  )
  const runner = own.findLastIndex((text) =>
    wrappers.has(nameOf(text)) || shells.has(nameOf(text)) || nameOf(text) === "eval"
  )
  return (name === "parallel" && own.length === 0) || (own[0]?.includes(sign) ?? false) ||
    runner === own.length - 1 && runner >= 0 ||
    (runner >= 0 && own.slice(runner + 1).some((text) => text.includes(sign)))
}

const deep: ReadonlySet<string> = new Set(["eval", "source", ".", "awk", "gawk", "sed", "git", "xargs", "find", "trap"])

const assigned = /^[A-Za-z_]\w*=/

const operands = (texts: ReadonlyArray<string>): ReadonlyArray<string> => texts.filter((text) => !/^[-+]/.test(text))

/** Commands and flags of sed that run programs or write files, and scripts that are read from files. */
const sedRuns =
  /(?:^|[;{}\n\d$/!,])[ \t]{0,8}[ewW](?:\s|$)|[^\w\s.-]\w{0,8}[ew]\w{0,8}[ \t]{0,8}(?:$|[;}\n])|^-[a-zA-Z]*f|^--file/

/** The program behind a name, as file systems without letter case see it. */
const nameOf = (text: string): string =>
  text.slice(text.lastIndexOf("/") + 1).toLowerCase().replace(/\.(?:exe|cmd|bat|com)$/, "")

const isStandard = (text: string): boolean => !text.includes("/") || isSystem(text.slice(0, text.lastIndexOf("/")))
