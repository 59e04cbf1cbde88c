/** Commands of the system that destroy files, disks, permissions, processes or accounts. */
import type { Command } from "../shell/decompose.ts"
import type { Arguments, Check } from "./arguments.ts"

/** A device, but not one that every program may write to. */
const device = new RegExp(
  String.raw`^(?:\w+=)?(?:\/dev\/(?!null$|zero$|full$|stdout$|stderr$|stdin$|tty|fd\/|pts\/|u?random$|shm\/|` +
    String.raw`tcp\/|udp\/)|\\\\\.\\)`
)

const sysrq = /^\/proc\/sysrq-trigger$/

/** Programs that delete what they are given. */
const removers = /^(?:g?rm|srm|unlink|g?shred|rmdir|trash|trash-put|rimraf|del-cli|del|wipe)$/

/** Programs that delete folders with all their files, whatever their options. */
const folderRemovers = /^(?:rimraf|del-cli|trash-empty|rd|deltree|remove-item|ri)$/

const filesFromElsewhere = /^g?(?:xargs|find)$|^(?:parallel|fd|fdfind)$/

const diskTools = new RegExp(
  String.raw`^(?:mkfs(?:\..*)?|mk\w{0,8}fs|mke2fs|mkswap|newfs|fdisk|cfdisk|sfdisk|gdisk|sgdisk|cgdisk|parted|` +
    "wipefs|g?shred|blkdiscard|hdparm|cryptsetup|lvremove|vgremove|pvremove|lvreduce|zpool|diskutil|" +
    "diskpart|format|ddrescue|flashcp|flash_erase|nvme|sg_format|badblocks|mdadm|zfs|btrfs|scrub|nwipe)$"
)

/** For tools that also show something: the arguments that destroy. */
const diskVerbs: { readonly [tool: string]: RegExp } = {
  badblocks: /^-\w*[wn]/,
  btrfs: /^(?:delete|de?l?|remove|rescue|zero-log)$/,
  cfdisk: /./,
  cryptsetup: /^(?:luks(?:format|erase|killslot|removekey)|erase|reencrypt|repair)$/i,
  diskutil: /^(?:erase|zero|secureerase|partition|reformat|randomdisk|apfs)/i,
  fdisk: /^(?!-l|--list|-s|--version|--help)/,
  gdisk: /^(?!-l)/,
  hdparm: /^--(?:security|trim|make-bad|write|sanitize|dco|yes)/,
  mdadm: /^--(?:zero|fail|remove|stop|create)/,
  nvme: /^(?:format|sanitize|write\S*|delete-ns|dsm)$/,
  parted: /^(?:mk\w+|rm|resizepart|resize)$/,
  sfdisk: /^(?!-l|-d|--list|--dump|-J|--json|--version)/,
  sgdisk: /^(?:--zap|-z|-Z|-o|--clear|-d|--delete|-n|--new)/,
  wipefs: /^(?:-\w*[ao]|--all|--offset)/,
  zfs: /^(?:destroy|rollback)$/,
  zpool: /^(?:destroy|labelclear|create|remove|export)$/
}

/** Modes that let others write: `777`, `o+w`, `a=rw`. */
const everybody = new RegExp(
  "^(?:[0-7]{0,3}[0-7][0-7][2367]|(?:[^,]*,)*(?:[ugoa]*[oa][ugoa]*[+=][rwxXstugo]*w[rwxXstugo]*|" +
    "[+=]rwx|=[rwx]*w[rwx]*|[+]w|o[+=][ug]+)(?:,.*)?)$"
)

const isRecursive = ({ flag, isDynamic, long }: Arguments): boolean => isDynamic || flag("rR") || long("recursive")

/** `rsync -n` only shows what it would do. */
const isDryRun = ({ flag, long }: Arguments): boolean => flag("n") || long("dry-run")

const opensMode = ({ isDynamic, texts }: Arguments): boolean =>
  isDynamic || texts.some((text, index) =>
    everybody.test(text.replace(/^(?:--mode=|-\w*m)(?=\w)/, "")) &&
    (text.startsWith("-") || /^-\w*m$|^--mode?$/.test(texts[index - 1] ?? ""))
  )

/** Finds the redirections and arguments that write to a device. */
const writesDevice = ({ some }: Arguments, { name, redirects }: Command): boolean =>
  redirects.some(({ op, target }) => op !== "<" && (device.test(target.text) || sysrq.test(target.text))) ||
  (/^g?(?:cp|mv|tee|cat|install|dd|tar|ddrescue|shred)$|^(?:curl|wget|qemu-img|gzip|pv|rsync|truncate)$/.test(name) &&
    some(device) && !/^(?:cat|gzip)$/.test(name))

/** `kill`: every process, process 1, or a list that another command makes of all processes. */
const killsEverything = ({ name, operands, some, texts }: Arguments): boolean => {
  if (name === "kill") {
    const signals = texts.filter((text) => text.startsWith("-"))
    const targets = texts.slice(1)
    return (targets.includes("-1") && signals.length > 0) || operands.includes("1")
  }
  if (name === "killall5" || (name === "slay" && operands.length > 0)) return true
  return /^(?:pkill|killall|skill)$/.test(name) &&
    (some(/^-\w*u$|^--(?:user|euid|uid)|^-u\w/) || operands.some((text) => /^(?:\.[*+]?|\^|\.\*\$|)$/.test(text)) ||
      texts.at(-1) === "-1" || some(/^--?r(?:egexp)?$/) && operands.includes(".*"))
}

/** Subcommands that stop the machine, or end sessions. */
const stopsMachine = new RegExp(
  String.raw`^(?:poweroff|reboot|halt|kexec|rescue|emergency|suspend\S*|hibernate|hybrid-sleep|soft-reboot|exit|` +
    String.raw`isolate|kill-user|kill-session|terminate-\w+)$`
)

/** Checks of commands of the system. */
export const systemChecks: ReadonlyArray<Check> = [
  ["disk", (args, command) => writesDevice(args, command) && !command.redirects.some(isSysrq)],
  ["shutdown", (args, { name, redirects }) => redirects.some(isSysrq) || (/^g?tee$/.test(name) && args.some(sysrq))],
  ["delete-recursively", (args) => /^g?rm$|^srm$|^wipe$|^trash(?:-put)?$/.test(args.name) && isRecursive(args)],
  ["delete-recursively", ({ name, some }) => name === "robocopy" && some(/^\/(?:mir|purge)$/i)],
  [
    "delete-recursively",
    ({ name, texts }) => folderRemovers.test(name) && (texts.length > 0 || name === "trash-empty")
  ],
  ["delete-recursively", ({ name, some }) => /^(?:rmdir|del|erase)$/.test(name) && some(/^\/s$/i)],
  ["delete-recursively", ({ name, some }) => /^g?find$/.test(name) && some(/^-delete$/)],
  [
    "delete-recursively",
    ({ name }, { filesFrom }) =>
      filesFrom !== undefined && filesFromElsewhere.test(filesFrom) && (removers.test(name) || name === "truncate")
  ],
  [
    "delete-recursively",
    (args) =>
      args.name === "rsync" && !isDryRun(args) &&
      args.long("delete-after", "delete-excluded", "delete-during", "remove-source-files", "delete-missing-args")
  ],
  ["delete-recursively", ({ long, name }) => /^(?:g?tar|bsdtar)$/.test(name) && long("remove-files")],
  [
    "delete-recursively",
    ({ flag, long, name, texts }) => name === "zip" && (flag("m") || long("move")) && texts.length > 1
  ],
  ["delete-recursively", ({ name, some }) => /^7z[arz]?$/.test(name) && some(/^-sdel$/)],
  ["delete-recursively", (args) => args.name === "rsync" && !isDryRun(args) && args.some(/^--del(?!ay)/)],
  [
    "delete-recursively",
    ({ name, operands }) => /^(?:yarn|pnpm|bun)$/.test(name) && folderRemovers.test(operands[0] ?? "")
  ],
  [
    "delete-recursively",
    ({ flag, has, name }) => name === "cmake" && (has("-E", "remove_directory") || (has("-E", "rm") && flag("rR")))
  ],
  ["delete-recursively", ({ has, name }) => name === "gio" && (has("trash") || has("remove"))],
  ["disk", ({ name, texts }) => /^g?mv$/.test(name) && texts.at(-1) === "/dev/null"],
  [
    "disk",
    ({ name, some, texts }) =>
      diskTools.test(name) && texts.length > 0 && some(diskVerbs[name] ?? /^(?!--?(?:version|help)$)./)
  ],
  ["disk", ({ isDynamic, name, texts }) => /^g?dd$|^dcfldd$/.test(name) && (isDynamic || texts.some(writesWithDd))],
  [
    "open-permissions",
    (args) => args.name === "chmod" && (args.isDynamic || args.texts.some((text) => everybody.test(text)))
  ],
  ["open-permissions", (args) => /^g?(?:install|mkdir|mkfifo|mknod)$/.test(args.name) && opensMode(args)],
  ["open-permissions", ({ name, some }) => name === "umask" && some(/^0{1,4}[0-7]{0,2}[01]$|^0+$|^a=|o=\w*w/)],
  [
    "open-permissions",
    ({ name, some }) => name === "setfacl" && some(/(?:^|,|=|-\w*m)(?:d(?:efault)?:)?o(?:ther)?s?::?\w*w/)
  ],
  ["open-permissions", ({ name, some }) => name === "icacls" && some(/^(?:everyone|\*S-1-1-0):/i)],
  [
    "open-permissions",
    (args) =>
      /^(?:chown|chgrp)$/.test(args.name) && isRecursive(args) && args.some(/^\/(?:\w+\/?)?$|^\/(?:usr|var|etc)\//)
  ],
  [
    "shutdown",
    ({ name, some }) =>
      /^(?:shutdown|reboot|halt|poweroff|stop-computer|restart-computer)$/.test(name) &&
      !some(/^(?:-c|--help|--version)$/)
  ],
  ["shutdown", ({ name, some }) => /^(?:init|telinit)$/.test(name) && some(/^[016sS]$/)],
  ["shutdown", ({ name, some }) =>
    /^(?:systemctl|loginctl)$/.test(name) &&
    some(stopsMachine)],
  [
    "shutdown",
    ({ name, some }) =>
      /^(?:dbus-send|busctl|gdbus|qdbus)$/.test(name) && some(/\b(?:PowerOff|Reboot|Halt|Suspend|Hibernate)\b/)
  ],
  ["shutdown", ({ name, some }) => name === "osascript" && some(/shut down|restart/i)],
  ["shutdown", killsEverything],
  [
    "shutdown",
    ({ name }, { filesFrom, inputOf }) =>
      /^(?:kill|xkill)$/.test(name) && filesFrom !== undefined && (inputOf ?? []).some(listsAll)
  ],
  [
    "accounts",
    ({ flag, long, name, texts }) =>
      /^(?:userdel|groupdel|deluser|delgroup|luserdel)$/.test(name) ||
      (name === "crontab" && (flag("r") || texts.includes("/dev/null"))) ||
      (name === "history" && flag("c")) || (name === "passwd" && (flag("d") || long("delete"))) ||
      (name === "atrm" && texts.length > 0) || (name === "at" && flag("dr") && !flag("f"))
  ],
  ["accounts", ({ name, some }) => name === "pw" && some(/^(?:user|group)del$/)],
  [
    "accounts",
    ({ has, name, some }) => /^net1?$/.test(name) && (has("user") || has("localgroup")) && some(/^\/delete$/i)
  ],
  ["accounts", ({ name, some }) => /^(?:dscl|sysadminctl|dseditgroup)$/.test(name) && some(/^-{0,2}delete(?:User)?$/i)],
  ["accounts", ({ name, some }) => /^(?:launchctl)$/.test(name) && some(/^(?:remove|unload|bootout)$/)]
]

const isSysrq = ({ target }: Command["redirects"][number]): boolean => sysrq.test(target.text)

/** `dd` to a file in the working folder is a copy; to anything else it overwrites a disk. */
const writesWithDd = (text: string): boolean => {
  const [, target] = /^of=([\s\S]*)$/.exec(text) ?? []
  return target !== undefined && (device.test(target) || target === "" || target.includes("$"))
}

/** Whether a command lists all processes: `ps -e`, `pgrep .`, `pidof`. */
const listsAll = (words: ReadonlyArray<string>): boolean => {
  const [name, ...args] = words
  if (name === "ps") return args.length === 0 || args.some((text) => /^-\w*[eA]|^a?u?x$|^ax/.test(text))
  return name === "pgrep" && args.some((text) => /^(?:\.\*?|)$|^-\w*[uU]/.test(text))
}
