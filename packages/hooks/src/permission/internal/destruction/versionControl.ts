/** Commands of other version control systems than Git that discard changes or rewrite history. */
import type { Arguments, Check } from "./arguments.ts"

/** The subcommand of Mercurial: `hg --config extensions.purge= purge` has a setting before it. */
const verbOf = ({ operands }: Arguments): string => operands.find((text) => !text.includes("=")) ?? ""

const discardsInMercurial = (args: Arguments): boolean => {
  const { flag, long } = args
  const verb = verbOf(args)
  return /^(?:purge|clean)$/.test(verb) ||
    (/^(?:up|update|checkout|co|merge)$/.test(verb) && (flag("C") || long("clean"))) ||
    (verb === "revert" && (flag("aC") || long("all", "no-backup")))
}

const rewritesInMercurial = (args: Arguments): boolean =>
  /^(?:strip|rollback|histedit|prune|obliterate)$/.test(verbOf(args))

const discardsInSubversion = ({ flag, long, operands: [verb = ""] }: Arguments): boolean =>
  (verb === "revert" && (flag("R") || long("recursive", "depth", "remove-added"))) ||
  (verb === "cleanup" && long("remove-unversioned", "remove-ignored"))

/** Jujutsu keeps what it takes away in its operations, until they are abandoned too. */
const discardsInJujutsu = ({ operands: [verb = "", next = ""] }: Arguments): boolean =>
  verb === "abandon" || (/^op(?:eration)?$/.test(verb) && /^(?:abandon|restore|undo)$/.test(next))

/** Checks of commands of Mercurial, Subversion, Jujutsu, Fossil and Perforce. */
export const versionControlChecks: ReadonlyArray<Check> = [
  ["git-discard", (args) => args.name === "hg" && discardsInMercurial(args)],
  ["git-rewrite", (args) => args.name === "hg" && rewritesInMercurial(args)],
  [
    "git-force-push",
    (args) => args.name === "hg" && verbOf(args) === "push" && (args.flag("f") || args.long("force"))
  ],
  ["git-discard", (args) => args.name === "svn" && discardsInSubversion(args)],
  ["git-discard", (args) => args.name === "jj" && discardsInJujutsu(args)],
  ["git-discard", ({ name, operands }) => name === "fossil" && /^(?:revert|clean)$/.test(operands[0] ?? "")],
  ["git-discard", ({ name, operands }) => name === "p4" && /^(?:revert|clean)$/.test(operands[0] ?? "")],
  ["git-rewrite", ({ name, operands }) => name === "p4" && operands[0] === "obliterate"]
]
