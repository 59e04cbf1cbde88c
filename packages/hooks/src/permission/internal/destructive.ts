/** Commands that destroy what is hard to get back. */
import { interpreters, network, shells } from "./names.ts"
import type { Decomposed } from "./shell.ts"

/** What a command would do. @category models @since 0.1.0 */
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

/** Every kind, with what the model is told. */
export const kinds: { readonly [K in Destruction]: string } = {
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

/** What a statement of SQL would destroy. */
export const sql =
  /\b(?:drop\s{1,64}(?:table|database|schema|view|index|user|role)|truncate\s{1,64}(?:table\s|\w)|delete\s{1,64}from\s{1,64}[\w."`[\]]{1,128}\s{0,64}(?:;|$|["']))/i

const clients =
  /^(?:psql|mysql|mariadb|sqlite3?|sqlcmd|sqlplus|mongosh?|duckdb|clickhouse-client|cqlsh|usql|bq|snowsql)$/

const device = /^\/dev\/(?!null$|zero$|stdout$|stderr$|stdin$|tty|fd\/|u?random$|shm\/)/

/** What a line destroys, with the words that say so. Words that are computed count as whatever they may be. */
export const destroys = (line: Decomposed, text: string): ReadonlyArray<readonly [Destruction, string]> => {
  const found: Array<readonly [Destruction, string]> = []
  const reads = line.commands.some(({ name, via, words }) =>
    via !== "guess" &&
    (shells.has(name) || interpreters.has(name) || name === "eval" || name === "source" || name === ".") &&
    (words.slice(1).every(({ text: word }) => word.startsWith("-")) || words.some(({ dynamic }) => dynamic))
  )
  if (reads && line.commands.some(({ name, via }) => via !== "guess" && network.has(name))) {
    found.push(["run-download", "a download that is run"])
  }
  const packed = text.replaceAll(/\s+/g, "")
  for (const [, name] of packed.slice(0, 4_096).matchAll(/([\w:.]{1,32})\(\)\{/g)) {
    if (packed.includes(`${name}|${name}`)) found.push(["fork-bomb", `${name}(){ ${name}|${name} }`])
  }
  if (line.commands.some(({ name }) => clients.test(name)) && sql.test(text)) {
    found.push(["sql-drop", sql.exec(text)![0]])
  }
  for (const { name, redirects, via, words } of line.commands) {
    if (via === "guess" && words.length > 32) continue
    const args = words.slice(1)
    const texts = args.map(({ text: word }) => word)
    const open = args.some(({ dynamic }) => dynamic)
    const any = (pattern: RegExp): boolean => texts.some((word) => pattern.test(word))
    const short = (letter: string): boolean => texts.some((word) => /^-[a-zA-Z]+$/.test(word) && word.includes(letter))
    const shown = [name, ...texts].join(" ").slice(0, 120)
    const add = (kind: Destruction): void => void found.push([kind, shown])
    if (redirects.some(({ op, target }) => op !== "<" && device.test(target.text))) add("disk")
    if (/^g?rm$|^srm$/.test(name) && (open || short("r") || short("R") || any(/^--recursive$/))) {
      add("delete-recursively")
    }
    if (/^g?find$/.test(name) && any(/^-delete$/)) add("delete-recursively")
    if (
      /^g?find$|^fd$/.test(name) && any(/^(?:-exec|-execdir|-ok|-okdir|-x|-X)$/) &&
      any(/^(?:\S*\/)?(?:rm|shred|unlink)$/)
    ) {
      add("delete-recursively")
    }
    if (name === "rsync" && any(/^--delete/)) add("delete-recursively")
    if (name === "git" || name === "hub") git(texts, any, short, open, add)
    if (
      /^(?:mkfs(?:\..*)?|mke2fs|fdisk|sfdisk|gdisk|parted|wipefs|shred|blkdiscard|hdparm|cryptsetup|lvremove|vgremove|zpool|diskutil|format)$/
        .test(name)
    ) {
      if (args.length > 0) add("disk")
    }
    if (/^g?dd$/.test(name) && (open || any(/^of=/))) add("disk")
    if (/^g?(?:cp|mv|tee|cat|install)$/.test(name) && any(device)) add("disk")
    if (/^dropdb$/.test(name)) add("sql-drop")
    if (
      name === "chmod" && any(/^(?:0?777|0?666|[ao]*a[ao]*[+=]\w*w\w*|[ugo]*o[ugo]*[+=]\w*w\w*|\+w|[+=]rwx)$/) ||
      name === "chmod" && open
    ) add("open-permissions")
    if (/^(?:chown|chgrp)$/.test(name) && (short("R") || any(/^--recursive$/)) && any(/^\/(?:\w+\/?)?$/)) {
      add("open-permissions")
    }
    if (/^(?:shutdown|reboot|halt|poweroff)$/.test(name) || (/^(?:init|telinit)$/.test(name) && any(/^[06]$/))) {
      add("shutdown")
    }
    if (name === "systemctl" && any(/^(?:poweroff|reboot|halt|kexec|rescue|emergency)$/)) add("shutdown")
    if (/^(?:kill|pkill|killall)$/.test(name) && any(/^-1$/) && texts.length > 1 && texts.at(-1) === "-1") {
      add("shutdown")
    }
    infrastructure(name, texts, any, add)
    if (
      /^(?:userdel|groupdel|deluser|delgroup)$/.test(name) || (name === "crontab" && short("r")) ||
      (name === "history" && short("c"))
    ) {
      add("accounts")
    }
  }
  return found
}

const git = (
  texts: ReadonlyArray<string>,
  any: (pattern: RegExp) => boolean,
  short: (letter: string) => boolean,
  open: boolean,
  add: (kind: Destruction) => void
): void => {
  const has = (word: string): boolean => texts.includes(word)
  if (has("push") && (open || short("f") || short("d") || any(/^--(?:force|delete|mirror|prune)|^\+|^:\S/))) {
    add("git-force-push")
  }
  if (has("reset") && (open || any(/^--(?:hard|merge|keep)$/))) add("git-discard")
  if (has("clean") && (open || short("f") || any(/^--force$/))) add("git-discard")
  if (
    (has("checkout") || has("restore") || has("switch")) &&
    (short("f") || any(/^(?:\.|\*|:\/|--force|--discard-changes|--)$/))
  ) {
    add("git-discard")
  }
  if (has("restore") && !any(/^--staged$|^-S$/)) add("git-discard")
  if (has("stash") && any(/^(?:drop|clear)$/)) add("git-discard")
  if (
    has("filter-branch") || has("filter-repo") || (has("update-ref") && short("d")) ||
    (has("reflog") && any(/^(?:expire|delete)$/))
  ) {
    add("git-rewrite")
  }
  if (
    (has("branch") && (short("D") || (any(/^--delete$|^-d$/) && any(/^--force$|^-f$/)))) ||
    (has("gc") && any(/^--prune=(?:now|all)/))
  ) {
    add("git-rewrite")
  }
  if (has("tag") && any(/^-d$|^--delete$/)) add("git-rewrite")
  if (has("worktree") && has("remove") && any(/^-f|^--force$/)) add("git-discard")
}

const infrastructure = (
  name: string,
  texts: ReadonlyArray<string>,
  any: (pattern: RegExp) => boolean,
  add: (kind: Destruction) => void
): void => {
  const has = (...words: ReadonlyArray<string>): boolean => words.every((word) => texts.includes(word))
  const is = (/^(?:terraform|tofu|terragrunt|pulumi|cdk|sls|serverless|vagrant)$/.test(name) &&
    any(/^(?:-?-?destroy|remove|down)$/)) ||
    (/^(?:kubectl|oc|helm|eksctl|kops|gcloud|az|doctl|heroku|flyctl|fly)$/.test(name) &&
      any(/^(?:delete|uninstall|destroy|drain|\S+:destroy|--replace)$/)) ||
    (name === "aws" && any(/^(?:rb|delete-\S+|terminate-\S+|remove-\S+|deregister-\S+)$/)) ||
    (name === "aws" && has("s3", "rm") && any(/^--recursive$/)) || (name === "aws" && any(/^--delete$/)) ||
    (/^(?:docker|podman)$/.test(name) &&
      (has("prune") || has("volume", "rm") || (has("compose", "down") && any(/^-v$|^--volumes$/)))) ||
    (/^(?:npm|pnpm|yarn)$/.test(name) && has("unpublish")) || (name === "gh" && has("repo", "delete")) ||
    (name === "redis-cli" && any(/^(?:flushall|flushdb)$/i)) ||
    (/^mongo(?:sh)?$/.test(name) && any(/dropDatabase|\.drop\(/))
  if (is) add("infrastructure")
}
