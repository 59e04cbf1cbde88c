/** Reads the commands that editors are given: the files that they read and write, and the programs that they run. */
import type { CodeEffects } from "./effects.ts"

export const isEditor = (name: string): boolean =>
  /^(?:n?vim?|vi|ex|view|gvim|vimdiff|ed|red|emacs|emacsclient)$/.test(name)

/** Commands that only move, print, change or leave the text in the editor. */
const quiet = new RegExp(
  String.raw`^(?:\d+|[%\d,.$'\w/]*(?:s[/|#,][^|!=\n]*|g\/[^|!\n]*\/[dp]|v\/[^|!\n]*\/[dp]|[dpjmt]|print|` +
    String.raw`nu(?:mber)?|l)|[/?][^|!\n]*|q(?:a|all)?!?|quit!?|wq?a?!?|x!?|wall|wqall!?|set? [\w= -]+|syntax \w+|` +
    String.raw`noh\w*|[aic]|\.|,|e!|h|P|normal!? [\w ]*)$`
)

const fileCommand = new RegExp(
  String.raw`^(?:[%\d,.$]|'\w)*(w(?:q|rite)?!?|sav(?:eas)?!?|up(?:date)?!?|r(?:ead)?|e(?:dit)?!?|sp(?:lit)?|` +
    String.raw`tabe(?:dit)?|W|f)\s*(?:>>)?\s*(\S.*)$`
)

/** Words before a command that change how it is shown. */
const modifiers = /^(?:(?:sil(?:ent)?!?|noa(?:utocmd)?|keep\w+|lockm(?:arks)?|vert(?:ical)?|tab|hide?)\s+)+/

/** What an editor does with its `-c` and `+` options, and with the commands on its input. */
export const editorEffects = (
  name: string,
  args: ReadonlyArray<string>,
  inputs: ReadonlyArray<string> | undefined
): CodeEffects => {
  if (name.startsWith("emacs")) {
    return args.some((text) => /^--?(?:eval|execute|l|load|f|funcall|script|x|batch)/.test(text)) ||
        (name === "emacsclient" && args.some((text) => /^-\w*e/.test(text)))
      ? { problem: "emacs runs Lisp" }
      : {}
  }
  const commands: Array<string> = []
  for (const [index, text] of args.entries()) {
    if (/^(?:-[a-z]*c|--cmd)$/.test(text)) commands.push(args[index + 1] ?? "")
    else if (/^-c./.test(text)) commands.push(text.slice(2))
    else if (/^\+./.test(text)) commands.push(text.slice(1))
    else if (/^-(?:S|s\w*|u|w|W|i)$/.test(text) && /^n?vim?$|^gvim$/.test(name) && /^-[Su]/.test(text)) {
      return { problem: `${name} reads commands from a file` }
    }
  }
  if (/^(?:ed|red|ex)$/.test(name) || args.some((text) => /^-\w*[es]/.test(text))) {
    if (inputs === undefined) return { problem: `${name} reads commands from its input` }
    commands.push(...inputs.flatMap((text) => text.split("\n")))
  }
  const effects = { reads: new Array<string>(), writes: new Array<string>(), runs: new Array<string>() }
  for (const written of commands) {
    const command = written.trim().replace(/^:+/, "").replace(modifiers, "")
    const [, shell] = /^[%\d,.$]*!\s*(.*)$/.exec(command) ?? []
    const [, verb = "", file] = fileCommand.exec(command) ?? []
    if (shell !== undefined) effects.runs.push(shell)
    else if (file?.startsWith("!") === true) effects.runs.push(file.slice(1))
    else if (file !== undefined && !/[|`%#$]/.test(file)) {
      ;(/^(?:r|e|sp|tabe)/.test(verb) ? effects.reads : effects.writes).push(file)
    } else if (command !== "" && !quiet.test(command) && !/^(?:ed|red)$/.test(name)) {
      return { ...effects, problem: `${name} runs commands that cannot be read` }
    } else if (/^(?:ed|red)$/.test(name) && /(?:^|[/,\d])!/.test(command)) {
      return { ...effects, problem: "ed runs commands" }
    }
  }
  return effects
}
