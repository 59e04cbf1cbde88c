/** Finds network targets in a text: URLs, host names, and the hosts of commands that use the network. */
import * as Result from "effect/Result"
import * as Address from "../../http/Address.ts"

/** A host that a tool call may connect to. */
export interface NetworkTarget {
  /** The target as it is written in the text. */
  readonly text: string
  readonly scheme?: string
  /** `undefined` when the host cannot be read. */
  readonly host?: string
  /** It is a file that names hosts. */
  readonly isFile?: boolean
  /** The port in digits; the default port of the scheme when none is written; empty when that is not known. */
  readonly port: string
  /** A user name is written before the host. */
  readonly userinfo: boolean
}

/** Matches a scheme with slashes, and a web scheme or `file:` without them. */
const urls = /(?<![\w+.-])(?:[a-z][a-z0-9+.-]{0,30}:[\\/]{2}|https?:|wss?:|file:(?!:))[^\s"'`<>|]*/giu

/**
 * A text that is nothing but a URL whose scheme needs no slashes. Inside of a longer text, `node:fs`, `data:1` and
 * `php:8` are code or names.
 */
const wholeUrl = new RegExp(
  String.raw`^\s*(?:ftps?|gopher|dict|ldaps?|tftp|jar|data|blob|javascript|vbscript|sftp|telnet|smb|nfs|` +
    String.raw`http\+unix|view-source|netdoc|phar):(?!\d{1,5}\s*$)[^\s:][^\s]*\s*$`,
  "iu"
)

/** The same, where the name of the argument says that it is a URL. */
const namedUrl = /^\s*(?:ssh|unix|php|expect|node):(?!\d{1,5}\s*$)[^\s:]\S*\s*$/iu

const hostKeys = new RegExp(
  "^(?:.*[_-])?(?:host|hostname|server|addr|ip|ip_?address|endpoint|origin|domain|proxy|ur[il]|" +
    "base_?url|target|upstream)s?$|(?:Host|Url|Uri|Endpoint|IpAddress|Origin|Server)$",
  "i"
)

const commands = new RegExp(
  "(?:^|[\\s;&|(`$/])(?:curl|wget|nc|ncat|netcat|telnet|ssh|scp|sftp|rsync|ftp|https?|httpie|xh|fetch|" +
    "ping|dig|nslookup|socat|openssl|lynx|aria2c|nmap|psql|mysql|redis-cli|mongosh|iwr|irm|git (?:clone|" +
    String.raw`fetch|pull|push|ls-remote))(?=\s)`
)

/** Addresses inside the words of a command, as in `--resolve example.com:443:127.0.0.1`. */
const addressesInWords = /(?<![\w.]|:\/\/)(\d{1,3}(?:\.\d{1,3}){3}|localhost)(?::(\d{1,5}))?(?![\w.])/gi

/** Files through which a shell itself opens connections. */
const devices = /\/dev\/(?:tcp|udp)\/([^\s/]{1,253})\/(\d{1,5})/g

/** Variables that name the proxy of a command. */
const proxies = /\b(?:https?|all|ftp)_proxy=["']?(?!\w+:\/\/)([^\s"';&|]{1,253})/gi

/** Flags whose values are not hosts. */
const flagsWithValues = new Set([
  "-o",
  "--output",
  "-d",
  "--data",
  "--data-raw",
  "--data-binary",
  "-H",
  "--header",
  "-A",
  "--user-agent",
  "-T",
  "-F",
  "--form"
])

/**
 * Yields the targets in a text that is the value of `key`. Without `commands`, the words of commands in it are left
 * out, because the caller has read them.
 */
export const targetsIn = (text: string, key: string, commands = true): Iterable<NetworkTarget> =>
  plainWord.test(text) && !hostKeys.test(key) ? none : searchTargets(text, key, commands)

const none: ReadonlyArray<NetworkTarget> = []

/** A word that cannot be a host, unless its key says that it is one. Most names and numbers are such words. */
const plainWord = /^(?!localhost$|metadata$|instance-data$|ip6-)[\w-]{0,256}$/i

function* searchTargets(text: string, key: string, hasCommands: boolean): Iterable<NetworkTarget> {
  // URL parsers drop tabs and line ends, so these cannot hide a host.
  const joined = /^\s*[a-z][a-z0-9+.-]{0,30}:/i.test(text) || /^\s*[\\/]{2}/.test(text)
    ? text.replaceAll(/[\t\r\n]+/g, "")
    : text
  for (const form of joined === text ? [text] : [text, joined]) {
    for (const { 0: match } of form.matchAll(urls)) {
      const target = urlTarget(match.replace(match.includes("[") ? /[),.;!?}]{1,8}$/ : /[)\],.;!?}]{1,8}$/, ""))
      if (target !== undefined) yield target
    }
  }
  const isHostKey = hostKeys.test(key)
  if (wholeUrl.test(joined) || (isHostKey && namedUrl.test(joined))) {
    const target = urlTarget(joined.trim())
    if (target !== undefined) yield target
  }
  if (/^\s*[\\/]{2,}[^\\/\s]+[\\/]?\S*\s*$/.test(text)) {
    yield urlTarget(`http:${text.trim()}`) ?? { text, port: "", userinfo: false }
  }
  const single = text.trim()
  if (isHostKey || !/\s/.test(single)) yield* hostTarget(single, isHostKey)
  for (const [device, host, port = ""] of text.matchAll(devices)) {
    yield { text: device, host: host!, port, userinfo: false }
  }
  for (const [, target] of text.matchAll(proxies)) yield* hostTarget(target!, true)
  if (!hasCommands || !commands.test(text)) return
  for (const [found, host, port = ""] of text.matchAll(addressesInWords)) {
    yield { text: found, host: host!, port, userinfo: false }
  }
  let before = ""
  for (const token of text.split(/[\s;&|()`"'=,]+/)) {
    if (!flagsWithValues.has(before)) yield* hostTarget(token, true)
    before = token
  }
}

/** Returns `undefined` when nothing follows the scheme. */
const urlTarget = (text: string): NetworkTarget | undefined => {
  const scheme = /^[a-z][a-z0-9+.-]*(?=:)/i.exec(text)?.[0].toLowerCase()
  if (scheme === undefined) return undefined
  const rest = text.slice(scheme.length + 1)
  if (/^[\\/]*$/.test(rest)) return undefined
  const unreadable = { text, scheme, port: "", userinfo: false }
  // URL parsers differ about backslashes and invisible characters, so such a URL is not read.
  if (/^[\\/]*[^/?#]*\\/.test(rest) || /\p{Cc}/u.test(text)) return unreadable
  const url = Result.try(() => new URL(text))
  if (Result.isFailure(url)) return unreadable
  const { host, hostname, password, port, username } = url.success
  const defaultPort = defaultPorts[scheme] ?? ""
  if (hostname === "" && (scheme === "http" || scheme === "https")) return unreadable
  const target = {
    text,
    scheme,
    port: port === "" ? defaultPort : port,
    userinfo: username !== "" || password !== "" || /^[\\/]*[^/?#]*@/.test(rest)
  }
  return host === "" ? target : { ...target, host: hostname }
}

const defaultPorts: { readonly [scheme: string]: string } = {
  http: "80",
  https: "443",
  ws: "80",
  wss: "443",
  ftp: "21",
  ssh: "22"
}

/** A host without a scheme, with its user and port. */
const bareHost = new RegExp(
  String.raw`^(?:([^\s@/]{1,64})@)?(\[[0-9a-f:.%]+\]|[0-9a-f]*:[0-9a-f]*:[0-9a-f:.]*|` +
    String.raw`[^\s:/?#@[\]]{1,253})(?::(\d{1,5}))?(?:[/?#]\S*)?$`,
  "iu"
)

/**
 * A host without a scheme. `isHost` says that the text must be a host, so that plain numbers and short names count too.
 */
export function* hostTarget(text: string, isHost: boolean): Iterable<NetworkTarget> {
  const [, user, host, port = ""] = bareHost.exec(text) ?? []
  if (host === undefined) return
  const kind = Address.classify(host)
  const numeric = /^[\d.]+$|^0x[0-9a-f.x]+$/i.test(host)
  const looksLikeHost = /\.[^.]|:/.test(host) || kind === "loopback" && !numeric || kind === "metadata" && !numeric
  // A plain number is an address only when it is large enough.
  const isLargeNumber = numeric && !host.includes(".") &&
    (/^0x/i.test(host) ? host.length > 7 : Number(host) >= 2 ** 24 || /^0\d{8,}$/.test(host))
  // A word with a dot may be a file name, so other signs of a host are needed.
  const hasHostSign = kind === "loopback" || kind === "metadata" || port !== "" || !/[a-z]/i.test(host)
  const isIpv6 = host.startsWith("[") || (host.includes(":") && host.length > 6)
  const counts = isHost
    ? looksLikeHost || isLargeNumber || (numeric && host.includes("."))
    : isPlainHost({ host, numeric, isIpv6 }) ?? (kind !== "name" && looksLikeHost && hasHostSign)
  if (counts && kind !== "invalid") {
    yield { text, host, port, userinfo: isHost && user !== undefined && kind !== "name" }
  }
}

/** Whether a number or an IPv6 address is written like a host; `undefined` for other texts. */
const isPlainHost = (
  { host, isIpv6, numeric }: { readonly host: string; readonly isIpv6: boolean; readonly numeric: boolean }
): boolean | undefined => {
  if (numeric) return host.split(".").length === 4
  return host.includes(":") ? isIpv6 : undefined
}
