/** Where a text leads: the URLs in it, the host that it is, and the hosts of a command that uses the network. */
import * as Result from "effect/Result"
import * as Address from "../../http/Address.ts"

/** One place that may be reached. */
export interface Target {
  /** As it stands in the text. */
  readonly text: string
  readonly scheme?: string
  /** Absent when it cannot be read. */
  readonly host?: string
  /** The port, as digits; the scheme's own one where none is written. */
  readonly port: string
  readonly userinfo: boolean
}

/** A scheme with slashes, a web scheme without them, schemes that need none, and an address relative to the scheme. */
const urls =
  /(?<![\w+.-])(?:[a-z][a-z0-9+.-]{0,30}:[\\/]{2}|https?:|wss?:|(?:file|ftps?|gopher|dict|ldaps?|tftp|jar|data|blob|javascript|vbscript|sftp|ssh|telnet|smb|nfs|unix|http\+unix|view-source|netdoc|php|phar|expect|node):(?!:))[^\s"'`<>|]*/giu

const hostKeys =
  /^(?:.*[_-])?(?:host|hostname|server|addr|ip|ip_?address|endpoint|origin|domain|proxy|ur[il]|base_?url|target|upstream)s?$|(?:Host|Url|Uri|Endpoint|IpAddress|Origin|Server)$/i

const commands =
  /(?:^|[\s;&|(`$/])(?:curl|wget|nc|ncat|netcat|telnet|ssh|scp|sftp|rsync|ftp|https?|httpie|xh|fetch|ping|dig|nslookup|socat|openssl|lynx|aria2c|nmap|psql|mysql|redis-cli|mongosh|iwr|irm|git (?:clone|fetch|pull|push|ls-remote))(?=\s)/

/** Addresses inside the words of a command, as in `--resolve example.com:443:127.0.0.1`. */
const inner = /(?<![\w.]|:\/\/)(\d{1,3}(?:\.\d{1,3}){3}|localhost)(?::(\d{1,5}))?(?![\w.])/gi

/** Where a shell connects by itself. */
const devices = /\/dev\/(?:tcp|udp)\/([^\s/]{1,253})\/(\d{1,5})/g

/** What follows these flags is no host. */
const values = new Set([
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

/** The targets of a text that stands under a key. */
export function* targetsOf(text: string, key: string): Iterable<Target> {
  // A URL is read without its tabs and line ends, so they cannot hide where it leads.
  const joined = /^\s*[a-z][a-z0-9+.-]{0,30}:/i.test(text) || /^\s*[\\/]{2}/.test(text)
    ? text.replaceAll(/[\t\r\n]+/g, "")
    : text
  for (const whole of joined === text ? [text] : [text, joined]) {
    for (const { 0: match } of whole.matchAll(urls)) {
      const target = ofUrl(match.replace(match.includes("[") ? /[),.;!?}]{1,8}$/ : /[)\],.;!?}]{1,8}$/, ""))
      if (target !== undefined) yield target
    }
  }
  if (/^\s*[\\/]{2,}[^\\/\s]+[\\/]?\S*\s*$/.test(text)) {
    yield ofUrl(`http:${text.trim()}`) ?? { text, port: "", userinfo: false }
  }
  const named = hostKeys.test(key)
  const single = text.trim()
  if (named || !/\s/.test(single)) yield* ofHost(single, named)
  for (const [device, host, port = ""] of text.matchAll(devices)) {
    yield { text: device, host: host!, port, userinfo: false }
  }
  if (!commands.test(text)) return
  for (const [found, host, port = ""] of text.matchAll(inner)) yield { text: found, host: host!, port, userinfo: false }
  let before = ""
  for (const token of text.split(/[\s;&|()`"'=,]+/)) {
    if (!values.has(before)) yield* ofHost(token, true)
    before = token
  }
}

/** Nothing when there is no host behind the scheme at all. */
const ofUrl = (text: string): Target | undefined => {
  const scheme = /^[a-z][a-z0-9+.-]*(?=:)/i.exec(text)?.[0].toLowerCase()
  if (scheme === undefined) return undefined
  const rest = text.slice(scheme.length + 1)
  if (/^[\\/]*$/.test(rest)) return undefined
  const broken = { text, scheme, port: "", userinfo: false }
  // Not every parser takes a backslash for a slash, or drops what cannot be seen.
  if (/^[\\/]*[^/?#]*\\/.test(rest) || /\p{Cc}/u.test(text)) return broken
  const url = Result.try(() => new URL(text))
  if (Result.isFailure(url)) return broken
  const { host, hostname, password, port, username } = url.success
  const own = ports[scheme] ?? ""
  if (hostname === "" && (scheme === "http" || scheme === "https")) return broken
  return {
    text,
    scheme,
    ...(host === "" ? {} : { host: hostname }),
    port: port === "" ? own : port,
    userinfo: username !== "" || password !== "" || /^[\\/]*[^/?#]*@/.test(rest)
  }
}

const ports: { readonly [scheme: string]: string } = {
  http: "80",
  https: "443",
  ws: "80",
  wss: "443",
  ftp: "21",
  ssh: "22"
}

/** A host without a scheme: `named` says that it has to be one, so that bare numbers and short names count too. */
function* ofHost(text: string, named: boolean): Iterable<Target> {
  const [, user, host, port = ""] =
    /^(?:([^\s@/]{1,64})@)?(\[[0-9a-f:.%]+\]|[0-9a-f]*:[0-9a-f]*:[0-9a-f:.]*|[^\s:/?#@[\]]{1,253})(?::(\d{1,5}))?(?:[/?#]\S*)?$/iu
      .exec(
        text
      ) ?? []
  if (host === undefined) return
  const kind = Address.classify(host)
  const numeric = /^[\d.]+$|^0x[0-9a-f.x]+$/i.test(host)
  const sure = /\.[^.]|:/.test(host) || kind === "loopback" && !numeric || kind === "metadata" && !numeric
  // A bare number is an address only where it is large enough, or where a host is expected.
  const large = numeric && !host.includes(".") &&
    (/^0x/i.test(host) ? host.length > 7 : Number(host) >= 2 ** 24 || /^0\d{8,}$/.test(host))
  // Not every word with a dot or a colon is meant as a host.
  const meant = kind === "loopback" || kind === "metadata" || port !== "" || !/[a-z]/i.test(host)
  const v6 = host.startsWith("[") || (host.includes(":") && host.length > 6)
  const counts = named
    ? sure || large || (numeric && host.includes("."))
    : numeric
    ? host.split(".").length === 4
    : host.includes(":")
    ? v6
    : kind !== "name" && sure && meant
  if (counts && kind !== "invalid") yield { text, host, port, userinfo: named && user !== undefined && kind !== "name" }
}
