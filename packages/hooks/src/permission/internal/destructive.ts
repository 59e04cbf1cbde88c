/** Finds commands that destroy data, such as `rm -rf` or `git push --force`. */
import type { Command, Decomposed } from "./decompose.ts"
import { interpreters, network, shells } from "./programs.ts"

/** A kind of destruction. @category models @since 0.1.0 */
export type Destruction =
  | "delete-recursively"
  | "git-force-push"
  | "git-discard"
  | "git-rewrite"
  | "disk"
  | "sql-drop"
  | "open-permissions"
  | "run-download"
  | "fork-bomb"
  | "shutdown"
  | "infrastructure"
  | "accounts"

/** Every kind, with the words that describe it to the model. */
export const destructionTexts: { readonly [K in Destruction]: string } = {
  "delete-recursively": "deletes whole folders",
  "git-force-push": "overwrites or deletes a remote branch",
  "git-discard": "throws away changes that are not committed",
  "git-rewrite": "deletes or rewrites history",
  disk: "overwrites a disk or a device",
  "sql-drop": "deletes tables or their rows",
  "open-permissions": "opens files to everybody",
  "run-download": "runs what it downloads",
  "fork-bomb": "starts processes without end",
  shutdown: "stops the machine or everything on it",
  infrastructure: "deletes infrastructure or what is published",
  accounts: "deletes accounts or scheduled jobs"
}

/** Matches an SQL statement that deletes tables or all rows of one. */
export const destructiveSql =
  /\b(?:drop\s{1,64}(?:table|database|schema|view|index|user|role)|truncate\s{1,64}(?:table\s|\w)|delete\s{1,64}from\s{1,64}[\w."`[\]]{1,128}\s{0,64}(?:;|$|["']))/i

const sqlClients =
  /^(?:psql|mysql|mariadb|sqlite3?|sqlcmd|sqlplus|mongosh?|duckdb|clickhouse-client|cqlsh|usql|bq|snowsql)$/

/** A device, but not one that every program may write to. */
const device = /^\/dev\/(?!null$|zero$|stdout$|stderr$|stdin$|tty|fd\/|u?random$|shm\/)/

/** Something destructive in a line: its kind, and the part of the line that does it. */
export type FoundDestruction = readonly [kind: Destruction, text: string]

/** Finds the destructive command of a line. A dynamic word counts as any value that makes a command destructive. */
export const findDestructions = (line: Decomposed, text: string): ReadonlyArray<FoundDestruction> => {
  const found: Array<FoundDestruction> = []
  if (runsDownload(line)) found.push(["run-download", "a download that is run"])
  found.push(...forkBombs(text))
  if (line.commands.some(({ name }) => sqlClients.test(name)) && destructiveSql.test(text)) {
    found.push(["sql-drop", destructiveSql.exec(text)![0]])
  }
  for (const command of line.commands) {
    if (command.via === "guess" && command.words.length > 32) continue
    const args = argumentsOf(command)
    const shown = [command.name, ...args.texts].join(" ").slice(0, 120)
    for (const [kind, destroys] of checks) {
      if (destroys(args, command)) found.push([kind, shown])
    }
  }
  return found
}

/** A shell or an interpreter reads its code from its input, and another command of the line downloads. */
const runsDownload = ({ commands }: Decomposed): boolean => {
  const readsCode = commands.some(({ name, via, words }) =>
    via !== "guess" &&
    (shells.has(name) || interpreters.has(name) || name === "eval" || name === "source" || name === ".") &&
    (words.slice(1).every(({ text }) => text.startsWith("-")) || words.some(({ dynamic }) => dynamic))
  )
  return readsCode && commands.some(({ name, via }) => via !== "guess" && network.has(name))
}

/** Functions that call themselves twice, as in `:(){ :|:& };:`. */
const forkBombs = (text: string): ReadonlyArray<FoundDestruction> => {
  const packed = text.replaceAll(/\s+/g, "")
  return [...packed.slice(0, 4_096).matchAll(/([\w:.]{1,32})\(\)\{/g)].flatMap(([, name]) =>
    packed.includes(`${name}|${name}`) ? [["fork-bomb", `${name}(){ ${name}|${name} }`] as const] : []
  )
}

/** The arguments of a command, with methods that search them. */
interface Arguments {
  readonly texts: ReadonlyArray<string>
  /** Whether an argument is dynamic. It may then be any option that a check searches for. */
  readonly isDynamic: boolean
  /** Whether one of the arguments matches the pattern. */
  readonly some: (pattern: RegExp) => boolean
  /** Whether all of these words are among the arguments. */
  readonly has: (...words: ReadonlyArray<string>) => boolean
  /** Whether a group of short options contains the letter, as in `-rf`. */
  readonly flag: (letter: string) => boolean
}

const argumentsOf = ({ words }: Command): Arguments => {
  const args = words.slice(1)
  const texts = args.map(({ text }) => text)
  return {
    texts,
    isDynamic: args.some(({ dynamic }) => dynamic),
    some: (pattern) => texts.some((text) => pattern.test(text)),
    has: (...all) => all.every((word) => texts.includes(word)),
    flag: (letter) => texts.some((text) => /^-[a-zA-Z]+$/.test(text) && text.includes(letter))
  }
}

type Check = readonly [Destruction, (args: Arguments, command: Command) => boolean]

const diskTools =
  /^(?:mkfs(?:\..*)?|mke2fs|fdisk|sfdisk|gdisk|parted|wipefs|shred|blkdiscard|hdparm|cryptsetup|lvremove|vgremove|zpool|diskutil|format)$/

const everybody = /^(?:0?777|0?666|[ao]*a[ao]*[+=]\w*w\w*|[ugo]*o[ugo]*[+=]\w*w\w*|\+w|[+=]rwx)$/

const systemChecks: ReadonlyArray<Check> = [
  ["disk", (_, { redirects }) => redirects.some(({ op, target }) => op !== "<" && device.test(target.text))],
  [
    "delete-recursively",
    ({ flag, isDynamic, some }, { name }) =>
      /^g?rm$|^srm$/.test(name) && (isDynamic || flag("r") || flag("R") || some(/^--recursive$/))
  ],
  ["delete-recursively", ({ some }, { name }) => /^g?find$/.test(name) && some(/^-delete$/)],
  [
    "delete-recursively",
    ({ some }, { name }) =>
      /^g?find$|^fd$/.test(name) && some(/^(?:-exec|-execdir|-ok|-okdir|-x|-X)$/) &&
      some(/^(?:\S*\/)?(?:rm|shred|unlink)$/)
  ],
  ["delete-recursively", ({ some }, { name }) => name === "rsync" && some(/^--delete/)],
  ["disk", ({ texts }, { name }) => diskTools.test(name) && texts.length > 0],
  ["disk", ({ isDynamic, some }, { name }) => /^g?dd$/.test(name) && (isDynamic || some(/^of=/))],
  ["disk", ({ some }, { name }) => /^g?(?:cp|mv|tee|cat|install)$/.test(name) && some(device)],
  ["sql-drop", (_, { name }) => name === "dropdb"],
  ["open-permissions", ({ isDynamic, some }, { name }) => name === "chmod" && (isDynamic || some(everybody))],
  [
    "open-permissions",
    ({ flag, some }, { name }) =>
      /^(?:chown|chgrp)$/.test(name) && (flag("R") || some(/^--recursive$/)) && some(/^\/(?:\w+\/?)?$/)
  ],
  [
    "shutdown",
    ({ some }, { name }) =>
      /^(?:shutdown|reboot|halt|poweroff)$/.test(name) || (/^(?:init|telinit)$/.test(name) && some(/^[06]$/))
  ],
  [
    "shutdown",
    ({ some }, { name }) => name === "systemctl" && some(/^(?:poweroff|reboot|halt|kexec|rescue|emergency)$/)
  ],
  [
    "shutdown",
    ({ texts }, { name }) => /^(?:kill|pkill|killall)$/.test(name) && texts.length > 1 && texts.at(-1) === "-1"
  ],
  [
    "accounts",
    ({ flag }, { name }) =>
      /^(?:userdel|groupdel|deluser|delgroup)$/.test(name) || (name === "crontab" && flag("r")) ||
      (name === "history" && flag("c"))
  ]
]

const isGit = ({ name }: Command): boolean => name === "git" || name === "hub"

const gitChecks: ReadonlyArray<Check> = [
  [
    "git-force-push",
    ({ flag, has, isDynamic, some }) =>
      has("push") && (isDynamic || flag("f") || flag("d") || some(/^--(?:force|delete|mirror|prune)|^\+|^:\S/))
  ],
  ["git-discard", ({ has, isDynamic, some }) => has("reset") && (isDynamic || some(/^--(?:hard|merge|keep)$/))],
  ["git-discard", ({ flag, has, isDynamic, some }) => has("clean") && (isDynamic || flag("f") || some(/^--force$/))],
  ["git-discard", ({ flag, has, some }) =>
    (has("checkout") || has("restore") || has("switch")) &&
    (flag("f") || some(/^(?:\.|\*|:\/|--force|--discard-changes|--)$/))],
  ["git-discard", ({ has, some }) => has("restore") && !some(/^--staged$|^-S$/)],
  ["git-discard", ({ has, some }) => has("stash") && some(/^(?:drop|clear)$/)],
  [
    "git-rewrite",
    ({ flag, has, some }) =>
      has("filter-branch") || has("filter-repo") || (has("update-ref") && flag("d")) ||
      (has("reflog") && some(/^(?:expire|delete)$/))
  ],
  [
    "git-rewrite",
    ({ flag, has, some }) =>
      (has("branch") && (flag("D") || (some(/^--delete$|^-d$/) && some(/^--force$|^-f$/)))) ||
      (has("gc") && some(/^--prune=(?:now|all)/))
  ],
  ["git-rewrite", ({ has, some }) => has("tag") && some(/^-d$|^--delete$/)],
  ["git-discard", ({ has, some }) => has("worktree", "remove") && some(/^-f|^--force$/)]
]

const infrastructureChecks: ReadonlyArray<Check> = [
  [
    "infrastructure",
    ({ some }, { name }) =>
      /^(?:terraform|tofu|terragrunt|pulumi|cdk|sls|serverless|vagrant)$/.test(name) &&
      some(/^(?:-?-?destroy|remove|down)$/)
  ],
  [
    "infrastructure",
    ({ some }, { name }) =>
      /^(?:kubectl|oc|helm|eksctl|kops|gcloud|az|doctl|heroku|flyctl|fly)$/.test(name) &&
      some(/^(?:delete|uninstall|destroy|drain|\S+:destroy|--replace)$/)
  ],
  ["infrastructure", ({ has, some }, { name }) =>
    name === "aws" &&
    (some(/^(?:rb|delete-\S+|terminate-\S+|remove-\S+|deregister-\S+|--delete)$/) ||
      (has("s3", "rm") && some(/^--recursive$/)))],
  ["infrastructure", ({ has, some }, { name }) =>
    /^(?:docker|podman)$/.test(name) &&
    (has("prune") || has("volume", "rm") || (has("compose", "down") && some(/^-v$|^--volumes$/)))],
  ["infrastructure", ({ has }, { name }) => /^(?:npm|pnpm|yarn)$/.test(name) && has("unpublish")],
  ["infrastructure", ({ has }, { name }) => name === "gh" && has("repo", "delete")],
  ["infrastructure", ({ some }, { name }) => name === "redis-cli" && some(/^(?:flushall|flushdb)$/i)],
  ["infrastructure", ({ some }, { name }) => /^mongo(?:sh)?$/.test(name) && some(/dropDatabase|\.drop\(/)]
]

const checks: ReadonlyArray<Check> = [
  ...systemChecks,
  ...gitChecks.map(([kind, destroys]): Check => [kind, (args, command) => isGit(command) && destroys(args, command)]),
  ...infrastructureChecks
]
