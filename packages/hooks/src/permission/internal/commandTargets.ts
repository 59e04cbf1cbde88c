/** Finds the hosts that the commands of a shell line connect to. */
import { hostTarget, type NetworkTarget } from "./networkTargets.ts"
import type { Command, Decomposed } from "./shell/command.ts"
import { isInterpreter } from "./syntax/nestedPrograms.ts"
import type { Word } from "./syntax/shellSyntax.ts"

/** How a program names hosts. Options are written with their dashes, separated by spaces. */
interface Client {
  /** Options whose value is a host, or has one. */
  readonly hosts?: string
  /** Options with another value. */
  readonly values?: string
  /** Those of them whose value is a file that names hosts. */
  readonly files?: string
  /**
   * The operands: each is a host or a URL, each is a host, the first one is, `host:path` names one, `//host/share`
   * does, `:type,host=name:path` does, or none does.
   */
  readonly operands?: "urls" | "all" | "first" | "remote" | "share" | "connection" | "none"
}

const database: Client = { hosts: "-h --host --hostname --server -H", values: "-p -U -u -d -c -e -f", operands: "none" }
const browser: Client = { operands: "urls" }

const table: { readonly [programs: string]: Client } = {
  curl: {
    hosts: "-x --proxy --preproxy --socks4 --socks4a --socks5 --socks5-hostname --proxy1.0 --resolve --connect-to " +
      "--doh-url --dns-servers --url --ftp-port -P",
    values: "-A -b -c -C -d -D -e -E -F -H -K -m -o -Q -r -t -T -u -U -w -X -Y -y -z --aws-sigv4 --cacert --capath " +
      "--cert --cert-type --ciphers --config --connect-timeout --continue-at --cookie --cookie-jar " +
      "--create-file-mode --crlfile --data --data-ascii --data-binary --data-raw --data-urlencode --dump-header " +
      "--expect100-timeout " +
      "--form --form-string --header --interface --json --keepalive-time --key --key-type --limit-rate --local-port " +
      "--max-filesize --max-redirs --max-time --netrc-file --noproxy --output --output-dir --parallel-max --pass " +
      "--pinnedpubkey --proto --proto-default --proto-redir --proxy-header --proxy-user --pubkey --quote --range " +
      "--rate --referer --request --request-target --retry --retry-delay --retry-max-time --speed-limit " +
      "--speed-time --stderr --time-cond --tls-max --trace --trace-ascii --trace-config --unix-socket --upload-file " +
      "--url-query --user --user-agent --variable --write-out",
    files: "-K --config",
    operands: "urls"
  },
  "wget wget2": {
    hosts: "-e --execute",
    values:
      "-a -A -B -D -i -I -l -o -O -P -Q -R -t -T -U -w -X --accept --append-output --base --body-data --body-file " +
      "--ca-certificate --cut-dirs --default-page --directory-prefix --domains --exclude-directories " +
      "--exclude-domains --header --input-file --level --limit-rate --load-cookies --method --output-document " +
      "--output-file --password " +
      "--post-data --post-file --quota --referer --reject --save-cookies --timeout --tries --user --user-agent --wait",
    files: "-i --input-file",
    operands: "urls"
  },
  "ssh autossh mosh sshpass ssh-copy-id": {
    hosts: "-J -o -W --ssh",
    values: "-B -b -c -D -E -e -F -I -i -L -l -m -M -O -p -Q -R -S -w",
    operands: "first"
  },
  "sftp ftp tftp lftp telnet finger": {
    hosts: "-J -o",
    values: "-B -b -c -D -F -i -l -P -p -R -S -s -u -e -X",
    operands: "first"
  },
  "nc ncat netcat": {
    hosts: "-x --proxy",
    values: "-b -c -e -G -g -I -i -M -m -O -o -P -p -q -s -T -V -w -X --exec --sh-exec --proxy-type --proxy-auth " +
      "--source --source-port --wait --output",
    operands: "first"
  },
  scp: { hosts: "-J -o", values: "-c -D -F -i -l -P -S -X", operands: "remote" },
  "sshfs mount mount.nfs": { values: "-o -p -t", operands: "remote" },
  rsync: {
    values: "-B -e -f -M -T --backup-dir --bwlimit --chmod --chown --compare-dest --contimeout --copy-dest --exclude " +
      "--exclude-from --files-from --filter --include --include-from --info --link-dest --log-file --max-size " +
      "--min-size --out-format --partial-dir --password-file --port --rsh --rsync-path --suffix --temp-dir --timeout",
    operands: "remote"
  },
  "ping ping6 traceroute traceroute6 tracepath mtr": {
    values: "-c -i -I -l -m -M -p -Q -q -s -S -t -T -w -W -f -n -N -z",
    operands: "all"
  },
  "dig drill kdig nslookup host getent resolvectl": {
    values: "-b -c -f -k -p -q -t -x -y -N -R -W -m -i -s",
    operands: "all"
  },
  whois: { hosts: "-h --host", values: "-p -i -t -T -s", operands: "none" },
  nmap: { files: "-iL", values: "-e -p -o -S -g -D -oA -oG -oN -oX --script --top-ports", operands: "all" },
  socat: { values: "-b -t -T -l", operands: "all" },
  openssl: { hosts: "-connect -host -proxy -server", operands: "none" },
  "http https httpie xh xhs": {
    hosts: "--proxy",
    values: "-a -A -o -s -p --auth --output --style --timeout",
    operands: "urls"
  },
  "lynx w3m links elinks fetch wscat websocat ab wrk hey oha grpcurl iwr irm invoke-webrequest": browser,
  aria2c: { values: "-d -o -x -s -j -k -l", files: "-i --input-file", operands: "urls" },
  smbclient: { hosts: "-L -I", values: "-U -c -D -p -W -A", operands: "share" },
  rclone: { operands: "connection" },
  swaks: { hosts: "--server -s", operands: "none" },
  sqlcmd: { hosts: "-S", operands: "none" },
  "mosquitto_pub mosquitto_sub": { hosts: "-h --host", values: "-m -p -t -u -P -f -i", operands: "none" },
  "kcat kafkacat": { hosts: "-b", values: "-t -p -o -K -X -f", operands: "none" },
  "gpg gpg2": { hosts: "--keyserver", operands: "none" },
  "docker podman nerdctl kubectl": { hosts: "-H --host --server -s", operands: "none" },
  "psql pg_dump pg_restore pg_isready mysql mysqldump mariadb redis-cli valkey-cli mongosh mongo mongodump cqlsh": {
    ...database
  }
}

const clients: ReadonlyMap<string, Client> = new Map(
  Object.entries(table).flatMap(([programs, client]) => programs.split(" ").map((program) => [program, client]))
)

/** Programs that are looked for among the arguments of unknown programs too. */
const often = /^(?:curl|wget|nc|ncat|ssh|scp|sftp|rsync)$/

/** The hosts that the commands of a line name. URLs are not among them. */
export function* commandTargets({ commands }: Decomposed): Iterable<NetworkTarget> {
  for (const command of commands) {
    const { name, via } = command
    if (via === "guess" && !often.test(name)) continue
    const args = [...command.words.slice(1), ...givenWords(command)]
    const client = clients.get(name)
    if (client !== undefined) yield* clientTargets(client, args, command.inputs ?? [])
    if (name === "git") yield* gitTargets(args)
    if (/^(?:docker|podman|nerdctl|crane|skopeo|regctl)$/.test(name)) yield* imageTargets(args)
    if (isInterpreter(name)) yield* codeTargets([...args, ...command.inputs ?? []])
  }
}

/** What `xargs` adds to the arguments, if it is known. */
const givenWords = ({ more }: Command): ReadonlyArray<Word> =>
  more?.type !== "text"
    ? []
    : more.text.split(/\s+/).filter((text) => text !== "").map((text) => ({ text, dynamic: false, fuzzy: false }))

function* clientTargets(
  client: Client,
  args: ReadonlyArray<Word>,
  inputs: ReadonlyArray<Word>
): Iterable<NetworkTarget> {
  const { operands = "none" } = client
  let isFirst = true
  for (const { option, text } of argumentsOf(client, args)) {
    if (option === "host") yield* hostsIn(text)
    else if (option === "file") {
      if (text !== "-" || inputs.length === 0) yield { text, isFile: true, port: "", userinfo: false }
      else for (const input of inputs) yield* listedHosts(input.text)
    } else if (operands === "remote") yield* remoteTarget(text)
    else if (operands === "share") yield* hostsIn(/^[\\/]{2}([^\\/]+)/.exec(text)?.[1] ?? "")
    else if (operands === "connection") yield* hostsIn(text.startsWith(":") ? text : "")
    else if (operands !== "none" && (operands !== "first" || isFirst)) yield* hostsIn(text)
    // An ssh alias or the name of a container is short too, so only addresses of the web count.
    if (operands === "urls" && option === undefined) yield* shortName(text)
    if (option === undefined) isFirst = false
  }
}

interface Argument {
  /** What the option before it says of it: a host, a file of hosts, or nothing, because the option is not known. */
  readonly option: "host" | "file" | "maybe" | undefined
  readonly text: string
}

/** The operands and the values of options that name hosts. */
function* argumentsOf(client: Client, args: ReadonlyArray<Word>): Iterable<Argument> {
  const hosts = client.hosts?.split(" ") ?? []
  const files = client.files?.split(" ") ?? []
  const values = [...files, ...client.values?.split(" ") ?? []]
  const is = (list: ReadonlyArray<string>, name: string) =>
    list.includes(name) || (/^--\w\w/.test(name) && list.some((one) => one.startsWith(name)))
  let isMaybe = false
  for (let at = 0; at < args.length; at++) {
    const text = textOf(args[at]!)
    const [, long, value] = /^(--?[\w.-]+)(?:=([\s\S]*))?$/.exec(text) ?? []
    const option = isMaybe ? "maybe" : undefined
    isMaybe = false
    if (!/^-./.test(text)) yield { option, text }
    else if (long !== undefined && is(hosts, long)) yield { option: "host", text: value ?? textOf(args[++at]) }
    else if (long !== undefined && is(files, long)) yield { option: "file", text: value ?? textOf(args[++at]) }
    else if (long !== undefined && is(values, long)) at += value === undefined ? 1 : 0
    else if (text.startsWith("--")) isMaybe = value === undefined
    else {
      const index = [...text].findIndex((letter, place) => place > 0 && [...hosts, ...values].includes(`-${letter}`))
      if (index < 0) continue
      const attached = text.slice(index + 1)
      const letter = `-${text[index]!}`
      const next = attached === "" ? textOf(args[++at]) : attached.replace(/^=/, "")
      if (hosts.includes(letter)) yield { option: "host", text: next }
      else if (files.includes(letter)) yield { option: "file", text: next }
    }
  }
}

/** The hosts in a file of addresses, one a line, or in a configuration of curl. */
function* listedHosts(text: string): Iterable<NetworkTarget> {
  for (const line of text.split("\n")) {
    const [, host] = /^\s*-*(?:url|proxy)[\s=:]+"?([^\s"]+)/i.exec(line) ?? []
    // Other settings of curl have a space or `=` inside.
    if (host !== undefined) yield* hostsIn(host)
    else if (!/[\s=]/.test(line.trim())) yield* hostsIn(line.trim())
  }
}

/** The text of a word. A part whose value is not known may be a label at the start of a host. */
const textOf = (word: Word | undefined): string =>
  word === undefined ? "" : word.dynamic ? word.text.replace(/^\$+(?=\.)/, "x") : word.text

/** The hosts in `a,b`, `name=host`, `TCP:host:port`, or in `@host`. */
function* hostsIn(text: string): Iterable<NetworkTarget> {
  if (/^\w[\w+.-]*:\/\//.test(text)) return
  for (const part of text.split(/[\s,=]+/)) {
    const host = part.replace(/^@/, "")
    const found = [...hostTarget(host, true)]
    yield* found
    if (found.length > 0 || !host.includes(":")) continue
    for (const piece of host.split(":")) if (/\.[^.]|^localhost$/.test(piece)) yield* hostTarget(piece, true)
  }
}

/** A host without a dot, which only its place shows to be one. */
function* shortName(text: string): Iterable<NetworkTarget> {
  const [, host, port = ""] = /^(?:[^@\s/:]{1,64}@)?([a-z][\w-]{1,62})(?::(\d{1,5}))?(?:[/?#]\S*)?$/i.exec(text) ?? []
  if (host !== undefined && !/^(?:get|post|put|delete|patch|head|options)$/i.test(host)) {
    yield { text, host, port, userinfo: false }
  }
}

/** `host:path` and `user@host:path`. */
function* remoteTarget(text: string): Iterable<NetworkTarget> {
  const [, host] = /^(?:[^@/:\s]{1,64}@)?(\[[0-9a-f:.]+\]|[\w$][\w.$-]{1,253}):(?!\/\/|\\)/i.exec(text) ?? []
  // An ssh alias has no dot.
  if (host !== undefined && /[.:]|^localhost$/i.test(host) && !host.includes("$")) {
    yield { text, host, port: "", userinfo: false }
  }
}

function* gitTargets(args: ReadonlyArray<Word>): Iterable<NetworkTarget> {
  const texts = args.map(textOf).filter((text, index, all) =>
    !text.startsWith("-") && !/^-[Cc]$|^--(?:git-dir|work-tree)$/.test(all[index - 1] ?? "")
  )
  const [verb = "", ...operands] = texts
  if (/^(?:clone|ls-remote|remote|submodule|archive)$/.test(verb)) {
    for (const text of operands) yield* remoteTarget(text)
  } else if (/^(?:fetch|pull|push)$/.test(verb)) yield* remoteTarget(operands[0] ?? "")
}

/** The registry of an image, as in `registry.example.com/app`. */
function* imageTargets(args: ReadonlyArray<Word>): Iterable<NetworkTarget> {
  const words = args.map(textOf).filter((text) => !text.startsWith("-"))
  const [verb = "", ...operands] = /^(?:image|container|manifest|artifact)$/.test(words[0] ?? "")
    ? words.slice(1)
    : words
  if (verb === "login") yield* hostsIn(operands.find((text) => /[.:]/.test(text)) ?? "")
  if (!/^(?:pull|push|run|create|copy|inspect)$/.test(verb)) return
  for (const text of operands) {
    const [, host] =
      /^(?:docker:\/\/)?([\w-]+(?:\.[\w-]+)+(?::\d+)?|localhost(?::\d+)?|[\w.-]+:\d+)\/[\w./@:-]+$/.exec(text) ?? []
    if (host !== undefined) yield* hostTarget(host, true)
  }
}

/** Hosts beside a port in code of another language: `"example.com", 80` and `"example.com:80"`. */
function* codeTargets(words: ReadonlyArray<Word>): Iterable<NetworkTarget> {
  for (const { text } of words) {
    if (!/\b(?:socket|connect|net|http|https|tcp|udp|dns|smtp|ftp|ssl|tls)/i.test(text)) continue
    for (const [, , host] of text.matchAll(/(["'])([\w-]{1,63}(?:\.[\w-]{1,63})+)\1\s*,\s*\d/g)) {
      yield* hostTarget(host!, true)
    }
    for (const [, host] of text.matchAll(/\d\s*,\s*["']([\w-]{1,63}(?:\.[\w-]{1,63})+)["']/g)) {
      yield* hostTarget(host!, true)
    }
    for (const [, , host] of text.matchAll(/(["'])([\w-]{1,63}(?:\.[\w-]{1,63})+:\d{1,5})\1/g)) {
      yield* hostTarget(host!, true)
    }
  }
}
