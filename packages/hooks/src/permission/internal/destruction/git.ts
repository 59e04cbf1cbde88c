/** Commands of git that destroy changes, branches or history. */
import type { Command } from "../shell/decompose.ts"
import type { Arguments, Check } from "./arguments.ts"

/** The subcommand of git and the words after it, as arguments. */
const verbOf = ({ operands, texts }: Arguments): string | undefined => {
  for (let at = 0; at < texts.length; at++) {
    const text = texts[at]!
    if (/^(?:-C|-c|--git-dir|--work-tree|--namespace|--exec-path|--super-prefix|--config-env|--config)$/.test(text)) {
      at++
    } else if (!text.startsWith("-") && text !== "for-each-repo") return text.toLowerCase()
  }
  return operands[0]
}

/** A file, a folder or a pattern, and not a branch. */
const pathspec = new RegExp(
  String.raw`^(?:\.{1,2}|:.*|.*[*?].*|--pathspec-\S+|--ours|--theirs|\.{1,2}\/.*|[^-].*\/|` +
    String.raw`[^-].*\.(?:[cm]?[jt]sx?|json|md|py|rb|go|rs|java|kt|cc?|h|cpp|hpp|s?css|html?|ya?ml|toml|txt|sh|sql|` +
    "lock|xml|vue|svelte|php|swift|ini|cfg|conf|env))$"
)

/** Settings with which a plain push overwrites or deletes branches. */
const forcingSetting = /^(?:--config-env=)?remote\..*\.(?:mirror(?!=(?:false|no|off|0)$)|push=["']?[+:])/i

const gitChecks: { readonly [verb: string]: ReadonlyArray<GitCheck> } = {
  push: [[
    "git-force-push",
    ({ flag, isDynamic, long, some }) =>
      isDynamic || flag("fd") || some(/^\+|^:\S/) || some(forcingSetting) ||
      long("force", "delete", "mirror", "prune", "force-with-lease")
  ]],
  apply: [[
    "git-discard",
    ({ flag, long }, { pipe = [] }) => (flag("R") || long("reverse")) && pipe[0]?.text === "git"
  ]],
  config: [[
    "git-force-push",
    ({ operands, some }) =>
      (some(/^remote\..*\.mirror$/i) && operands.some((text) => /^(?:true|yes|on|1)$/i.test(text))) ||
      (some(/^remote\..*\.push$/i) && operands.some((text) => /^[+:]/.test(text)))
  ]],
  "send-pack": [["git-force-push", ({ long, some }) => long("force", "mirror") || some(/^\+|^:\S/)]],
  reset: [["git-discard", ({ isDynamic, long }) => isDynamic || long("hard", "merge", "keep")]],
  clean: [[
    "git-discard",
    ({ flag, isDynamic, long }) =>
      !flag("n") && !long("dry-run") && (isDynamic || flag("fxXi") || long("force", "interactive"))
  ]],
  checkout: [
    ["git-discard", ({ flag, isForced, isGiven, some, texts }) => {
      const end = texts.indexOf("--")
      const namesFiles = isGiven || (end >= 0 && end < texts.length - 1) || (!flag("b") && some(pathspec))
      return flag("fB") || isForced || namesFiles
    }]
  ],
  "checkout-index": [["git-discard", ({ flag, isForced }) => flag("fa") || isForced]],
  switch: [[
    "git-discard",
    ({ flag, isForced, long }) => flag("fC") || isForced || long("force-create") || long("discard-changes")
  ]],
  restore: [["git-discard", ({ flag, long }) => flag("W") || long("worktree") || !(flag("S") || long("staged"))]],
  rm: [["delete-recursively", ({ flag, long }) => flag("r") && !long("cached") && !flag("n") && !long("dry-run")]],
  stash: [["git-discard", ({ some }) => some(/^(?:drop|clear)$/)]],
  "read-tree": [["git-discard", ({ flag, long }) => long("reset") || (flag("u") && flag("m"))]],
  worktree: [["git-discard", ({ flag, isForced, some }) => some(/^remove$/) && (flag("f") || isForced)]],
  submodule: [["git-discard", ({ flag, isForced, some }) => some(/^(?:deinit|update)$/) && (flag("f") || isForced)]],
  "filter-branch": [["git-rewrite", () => true]],
  "filter-repo": [["git-rewrite", () => true]],
  "update-ref": [[
    "git-rewrite",
    ({ flag, long, operands }) => flag("d") || long("stdin") || (operands.length > 2 && isBranch(operands[1]!))
  ]],
  "symbolic-ref": [["git-rewrite", ({ flag, long }) => flag("d") || long("delete")]],
  reflog: [["git-rewrite", ({ some }) => some(/^(?:expire|delete|drop)$/)]],
  branch: [[
    "git-rewrite",
    ({ flag, isForced, long }) =>
      flag("DMCf") || isForced || ((long("delete") || flag("dmc") || long("move", "copy")) && (flag("f") || isForced))
  ]],
  tag: [["git-rewrite", ({ flag, isForced, long }) => flag("df") || long("delete") || isForced]],
  replace: [["git-rewrite", ({ flag, isForced, long }) => flag("df") || long("delete") || isForced]],
  notes: [["git-rewrite", ({ some }) => some(/^(?:remove|prune)$/)]],
  prune: [["git-rewrite", ({ flag, long }) => !flag("n") && !long("dry-run")]],
  gc: [[
    "git-rewrite",
    ({ texts }) => texts.some((text) => /^--p[rune]*=(?!never)|^gc\.\w*(?:expire|prune)\w*=/i.test(text))
  ]],
  "reflog-expire": [["git-rewrite", () => true]]
}

interface GitArguments extends Arguments {
  readonly isForced: boolean
  /** `xargs` or `find` gives it more arguments. */
  readonly isGiven: boolean
}

type GitCheck = readonly [Check[0], (args: GitArguments, command: Command) => boolean]

const isBranch = (text: string): boolean => /^(?:refs\/heads\/|HEAD$)/.test(text)

/** The checks of a command of git. */
export const gitDestructions = (args: Arguments, command: Command): ReadonlyArray<Check[0]> => {
  const verb = verbOf(args)
  if (verb === undefined) return []
  // A computed subcommand may be any of them.
  const verbs = /[$*?{[]/.test(verb) ? Object.keys(gitChecks) : Object.hasOwn(gitChecks, verb) ? [verb] : []
  const checks = verbs.flatMap((one) => gitChecks[one]!)
  const own = {
    ...args,
    isForced: args.long("force"),
    isGiven: command.filesFrom !== undefined && command.filesFrom !== "$"
  }
  return checks.filter(([, destroys]) => destroys(own, command)).map(([kind]) => kind)
}
