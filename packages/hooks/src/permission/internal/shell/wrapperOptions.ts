/** Where the command begins among the arguments of a program that runs another one. */
import type { Word } from "../syntax/shellSyntax.ts"

/** The options of a wrapper. Letters and names that are not listed are not known. */
interface Options {
  /** Short options without a value. */
  readonly flags?: string
  /** Short options with a value. */
  readonly values?: string
  readonly longFlags?: string
  readonly longValues?: string
  /** How many operands stand before the command. */
  readonly skip?: number
  /** Assignments may stand before the command. */
  readonly assigns?: boolean
  /** Short and long options after which nothing runs: `command -v`. */
  readonly shows?: RegExp
  /** The words of the command are joined and read by a shell. */
  readonly joins?: boolean
}

const containerRun: Options = {
  flags: "dit",
  values: "aeghlmpuvw",
  longFlags: "rm init privileged detach interactive tty read-only no-healthcheck quiet sig-proxy oom-kill-disable",
  longValues:
    `name network net volume mount env env-file workdir user publish platform label hostname cpus memory pull restart
    add-host cap-add cap-drop device dns entrypoint gpus ip log-driver security-opt shm-size tmpfs ulimit
    volumes-from expose link`,
  skip: 1
}

const containerExec: Options = {
  flags: "ditT",
  values: "eucw",
  longFlags: "detach interactive tty privileged no-TTY no-tty stdin",
  longValues: "env env-file user workdir index",
  skip: 1
}

const wrapperOptions: { readonly [name: string]: Options } = {
  builtin: {},
  busybox: {},
  caffeinate: { flags: "dimsu", values: "tw" },
  chroot: { longValues: "userspec groups", longFlags: "skip-chdir", skip: 1 },
  chrt: { flags: "abdfimoprvR", values: "TPD", skip: 1 },
  command: { flags: "pvV", shows: /^-\w*[vV]/ },
  doas: { flags: "Lns", values: "Cu" },
  env: {
    flags: "i0v",
    values: "uC",
    longFlags: "ignore-environment null debug",
    longValues: "unset chdir",
    assigns: true
  },
  exec: { flags: "cl", values: "a" },
  faketime: { flags: "f", skip: 1 },
  flock: {
    flags: "sxeunoF",
    values: "wE",
    longFlags: "shared exclusive nonblock close",
    longValues: "timeout",
    skip: 1
  },
  gosu: { skip: 1 },
  ionice: { flags: "t", values: "cn", longValues: "class classdata" },
  nice: { flags: "0123456789", values: "n", longValues: "adjustment" },
  noglob: {},
  nohup: {},
  setsid: { flags: "cfw", longFlags: "ctty fork wait" },
  ssh: { flags: "46AaCfGgKkMNnqsTtVvXxYy", values: "BbcDEeFIiJLlmOopQRSWw", skip: 1, joins: true },
  stdbuf: { values: "ioe", longValues: "input output error" },
  strace: { flags: "CcdfFhiknqrtTvVwxyYzZ", values: "aeIEoOpPsSuUX" },
  sudo: {
    flags: "AbBEeHiKklNnPSsVv",
    values: "CDghpRrTtUu",
    longFlags:
      "askpass background preserve-env edit set-home login non-interactive preserve-groups stdin shell validate list",
    longValues: "close-from chdir group host prompt chroot role command-timeout type other-user user",
    assigns: true,
    shows: /^(?:-\w*[lv]|--list|--validate)$/
  },
  taskset: { flags: "ac", skip: 1 },
  time: { flags: "pqva", values: "fo", longFlags: "portability quiet verbose append", longValues: "format output" },
  timeout: {
    flags: "v",
    values: "ks",
    longFlags: "foreground preserve-status verbose",
    longValues: "kill-after signal",
    skip: 1
  },
  toybox: {},
  unbuffer: { flags: "p" },
  watch: {
    flags: "bcdegptwx",
    values: "n",
    longFlags: "color differences errexit chgexit no-title",
    longValues: "interval",
    joins: true
  },
  xargs: {
    flags: "0prtxo",
    values: "aEeIiLlnPsdJRS",
    longFlags: "null interactive no-run-if-empty verbose exit open-tty",
    longValues: "arg-file delimiter eof replace max-lines max-args max-procs max-chars"
  },
  corepack: {},
  "direnv exec": { skip: 1 },
  npx: { flags: "yq", values: "p", longFlags: "yes no-install quiet no prefer-offline", longValues: "package" },
  bunx: { longFlags: "bun" },
  pnpx: {},
  uvx: { values: "p", longValues: "from with python" },
  "npm exec": { flags: "y", longFlags: "yes no", longValues: "package" },
  "npm x": { flags: "y", longFlags: "yes no", longValues: "package" },
  "pnpm exec": { flags: "r" },
  "pnpm dlx": {},
  "yarn dlx": { flags: "q", values: "p" },
  "yarn exec": {},
  "bun x": {},
  "uv run": { flags: "qv", longFlags: "no-sync frozen", longValues: "with python extra group" },
  "poetry run": {},
  "pipenv run": {},
  "bundle exec": {},
  "docker exec": containerExec,
  "docker run": containerRun,
  "docker compose exec": containerExec,
  "docker compose run": containerRun,
  "kubectl exec": {
    flags: "itq",
    values: "cn",
    longFlags: "stdin tty quiet",
    longValues: "container namespace context kubeconfig",
    skip: 1
  }
}

const aliases: { readonly [name: string]: string } = {
  gtimeout: "timeout",
  gxargs: "xargs",
  gnice: "nice",
  gstdbuf: "stdbuf",
  genv: "env",
  "docker-compose": "docker compose",
  podman: "docker",
  nerdctl: "docker",
  oc: "kubectl",
  "su-exec": "gosu",
  "nohup.exe": "nohup"
}

/** The command of a wrapper. */
export interface Wrapped {
  readonly words: ReadonlyArray<Word>
  readonly joins: boolean
}

/** The command that a wrapper runs; `undefined` when the arguments do not show where it begins. */
export const wrappedCommand = (name: string, args: ReadonlyArray<Word>): Wrapped | undefined => {
  const program = aliases[name] ?? name
  for (let words = 0; words <= 2; words++) {
    const key = [program, ...args.slice(0, words).map(({ text }) => text)].join(" ")
    if (Object.hasOwn(wrapperOptions, key)) return afterOptions(wrapperOptions[key]!, args.slice(words))
  }
  return undefined
}

const list = (names: string | undefined): ReadonlyArray<string> => (names ?? "").trim().split(/\s+/)

const afterOptions = (options: Options, args: ReadonlyArray<Word>): Wrapped | undefined => {
  const { assigns = false, flags = "", joins = false, longFlags, longValues, shows, skip = 0, values = "" } = options
  let skipped = 0
  let at = 0
  for (; at < args.length; at++) {
    const { dynamic, text } = args[at]!
    if (shows?.test(text) === true) return { words: [], joins }
    if (text === "--") continue
    if (assigns && /^[^=-][^=]*=/.test(text)) {
      if (/^\w+=/.test(text)) continue
      return undefined
    }
    const [, name, value] = /^--([\w-]+)(=[\s\S]*)?$/.exec(text) ?? []
    if (name !== undefined) {
      if (value !== undefined || list(longFlags).includes(name)) continue
      if (!list(longValues).includes(name)) return undefined
      at++
    } else if (/^-./.test(text)) {
      if (dynamic && !/^-\w*[^\w$-]/.test(text) && !values.includes(text[1]!)) return undefined
      const letters = text.slice(1)
      const index = [...letters].findIndex((letter) => !flags.includes(letter))
      if (index < 0) continue
      if (!values.includes(letters[index]!)) return undefined
      if (index === letters.length - 1 && !/^[eil]$/.test(letters[index]!)) at++
      else if (index === letters.length - 1 && !flags.includes("0prtxo")) at++
    } else if (dynamic && skip === 0) return undefined
    else if (skipped < skip) skipped++
    else break
  }
  return { words: args.slice(at), joins }
}

/** Options through which programs run other programs: the option, and how its value is written. */
const scripts: { readonly [name: string]: RegExp } = {
  bat: /^--pager(?:=|$)/,
  git: /^--(?:upload-pack|receive-pack|exec|extcmd|open-files-in-pager|sh|gpg-program)(?:=|$)/,
  less: /^\+&?!/,
  man: /^(?:-P|-H|--pager|--html|--browser)(?:=|(?<=-P)|$)/,
  rg: /^--(?:pre|hostname-bin)(?:=|$)/,
  rsync: /^(?:-\w*e|--rsh|--rsync-path)(?:=|$)/,
  scp: /^-\w*S$|^(?:-o)?Proxy(?:Command|UseFdpass)?=/i,
  sftp: /^-\w*[SD]$|^(?:-o)?ProxyCommand=/i,
  sort: /^--compress-p[a-z-]*(?:=|$)/,
  split: /^--filt?e?r?(?:=|$)/,
  ssh: /^(?:-o)?\s*(?:ProxyCommand|LocalCommand|KnownHostsCommand)[= ]/i,
  tar: new RegExp(
    "^(?:--to-c[a-z]*|--checkpoint-a[a-z]*|--use-c[a-z-]*|--rsh-c[a-z]*|--rmt-c[a-z]*|--info-s[a-z]*|" +
      String.raw`--new-vol[a-z-]*|-\w*I|-\w*F)(?:=|$)`
  ),
  zip: /^(?:-\w*TT|--unzip-command)(?:=|$)/,
  script: /^(?:-\w*c|--command)(?:=|$)/,
  su: /^(?:-\w*c|--command)(?:=|$)/,
  runuser: /^(?:-\w*c|--command)(?:=|$)/,
  flock: /^(?:-\w*c|--command)(?:=|$)/
}

/** The scripts in the options of a program. */
export const optionScripts = (name: string, args: ReadonlyArray<Word>): ReadonlyArray<Word> => {
  const key = /^(?:g|bsd)tar$/.test(name) ? "tar" : name
  if (!Object.hasOwn(scripts, key)) return []
  const option = scripts[key]!
  return args.flatMap((word, index) => {
    const found = option.exec(word.text)
    if (found === null) return []
    const rest = word.text.slice(found[0].length)
    const value: Word | undefined = rest === "" && !/[=! ]$/.test(found[0]) ? args[index + 1] : { ...word, text: rest }
    if (value === undefined) return []
    const text = value.text.replace(/^(?:exec=|!)/, "")
    return /^(?:dot|echo|sleep=.*|bell|ttyout.*|\d+)$/.test(text) && key === "tar" ? [] : [{ ...value, text }]
  })
}
