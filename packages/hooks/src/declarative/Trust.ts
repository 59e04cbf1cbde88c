/**
 * Which projects may run their own hooks: what a person decided, about exactly these files.
 *
 * @since 0.1.0
 */
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { randomUUID } from "node:crypto"
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { homedir } from "node:os"
import { join, resolve } from "node:path"
import { scriptFolders, type Source } from "./Discovery.ts"
import { below, isInside, read, real, sha256 } from "./internal/files.ts"
import type { Work } from "./Runners.ts"

/**
 * Computes what a decision is about: the project's real path, its settings files, the scripts that their commands name, and everything in `.claude/hooks`. It changes with a letter
 * or an execute bit of any of them. What a script loads from elsewhere is not in it.
 *
 * @category reading
 * @since 0.1.0
 */
export const fingerprint = (
  cwd: string,
  sources: ReadonlyArray<Pick<Source, "path" | "config" | "text">>,
  home: string = homedir()
): string =>
  sha256(JSON.stringify([
    real(cwd),
    // As they were read: what is there by now may be something else.
    ...sources.map(({ path, text }) => [path, real(path), sha256(text)]),
    ...scripts(cwd, sources, home).map(({ path, state }) => [path, real(path), state])
  ]))

/** A file that a decision is about, besides the settings. @category models @since 0.1.0 */
export interface Script {
  readonly path: string
  /** Its execute bits and SHA-256, such as `755 9f86…`; `absent`; or why it cannot be read. */
  readonly state: string
}

/** Lists what commands name that is or could be a script, there or not, and what is in the folders of scripts. @category reading @since 0.1.0 */
export const scripts = (
  cwd: string,
  sources: ReadonlyArray<Pick<Source, "config">>,
  home: string = homedir()
): ReadonlyArray<Script> => {
  const commands = sources.flatMap(({ config }) => config.handlers.flatMap(({ work }) => named(work, cwd, home)))
  const paths = [
    ...new Set([
      ...commands,
      ...scriptFolders.flatMap((folder) => below(join(cwd, folder))).filter((path) => !kept.test(path))
    ])
  ].sort()
  return paths.map((path) => ({ path, state: stateOf(path) }))
}

/** Where decisions are kept. @category models @since 0.1.0 */
export interface Store {
  readonly isTrusted: (cwd: string, fingerprint: string) => boolean
  readonly trust: (cwd: string, fingerprint: string) => void
  /** Takes back what was decided about a project, whatever it was about; says whether there was anything. */
  readonly remove: (cwd: string) => boolean
}

/**
 * Keeps decisions in a folder, a file a project, which only the owner may read. It has to be outside of every project whose hooks it is asked about: one inside never trusts.
 *
 * @example
 * ```ts
 * import * as Discovery from "@belay/hooks/Discovery"
 * import * as Trust from "@belay/hooks/Trust"
 *
 * const cwd = "/srv/app"
 * const { sources } = Discovery.find({ cwd, home: "/srv/ada" })
 * const store = Trust.folder("/srv/ada/.belay/trust")
 * store.isTrusted(cwd, Trust.fingerprint(cwd, sources.filter(({ ofProject }) => ofProject))) // false
 * ```
 * @category stores
 * @since 0.1.0
 */
export const folder = (path: string): Store => {
  const fileOf = (cwd: string) => join(path, `${sha256(real(cwd))}.json`)
  return {
    isTrusted: (cwd, print) => {
      if (isInside(real(cwd), real(path)) || isInside(cwd, path)) return false
      const content = read(fileOf(cwd), 65_536)
      if (content === "absent" || "problem" in content) return false
      const kept = decode(content.bytes.toString("utf8"))
      return Option.isSome(kept) && kept.value.project === real(cwd) && kept.value.fingerprint === print
    },
    trust: (cwd, print) => {
      const temporary = `${fileOf(cwd)}.${randomUUID()}.tmp`
      mkdirSync(path, { recursive: true, mode: 0o700 })
      writeFileSync(temporary, `${JSON.stringify({ project: real(cwd), fingerprint: print })}\n`, { mode: 0o600 })
      renameSync(temporary, fileOf(cwd))
    },
    remove: (cwd) => {
      const isThere = existsSync(fileOf(cwd))
      rmSync(fileOf(cwd), { force: true })
      return isThere
    }
  }
}

const decode = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Struct({ project: Schema.String, fingerprint: Schema.String })))

/** What a command names that is or could be a script: files of the system are not the project's to change. */
const named = (work: Work, cwd: string, home: string): ReadonlyArray<string> => {
  if (work.type !== "command") return []
  const { args } = work
  const command = unread(work.command.replaceAll(written, " "))
  const whole = [...command.matchAll(/"([^"]*)"|'([^']*)'/g)].map(([, double, single]) => double ?? single ?? "")
  const words = [command, ...whole].flatMap((text) => [text, ...text.replaceAll(/["'\\]/g, "").split(/[\s;|&()<>`=,]+/)])
  return [...new Set([...words, ...(args ?? []).flatMap((one) => [one, ...one.split("=")])])].flatMap((word) => {
    const path = word.replaceAll(/["']/g, "").replaceAll(/\$\{?(?:CLAUDE_PROJECT_DIR|PWD)\}?/g, () => cwd).replace(
      /^(?:~|\$\{?HOME\}?)(?=\/)/,
      () => home
    )
    if (path === "" || path.length > 4_096 || path.includes("\0") || !/[/.]/.test(path)) return []
    const full = resolve(cwd, path)
    return full === resolve(cwd) || system.test(full) ? [] : [full]
  })
}

/** Leaves out what a line only reads, unless something in it may run what was read. */
const unread = (line: string): string =>
  runs.test(line)
    ? line
    : line.split(/[;|&()\n]+/).map((part) => {
      const [, program = "", rest = ""] = /^\s*(?:\w+=\S*\s+)*(\S+)([\s\S]*)$/.exec(part) ?? []
      return readers.has(program.split("/").at(-1)!) ? rest.split(/\s+/).filter((word) => script.test(word)).join(" ") : part
    }).join(";")

const readers = new Set(
  "cat head tail wc grep egrep fgrep rg jq yq ls stat diff cmp sort uniq cut tr echo printf git date basename dirname realpath readlink file du md5sum sha256sum cd cp mv ln"
    .split(" ")
)

/** Interpreters, and a line that begins with what another wrote. */
const runs =
  /(?:^|[\s;|&(`"'/])(?:(?:ba|z|da|k|fi)?sh|python[\d.]*|node|deno|bun|perl|ruby|php|uv|npx|tsx|eval|exec|source|\.|xargs|env|find|awk|sed|make)(?=[\s"';|&)]|$)|(?:^|[;&|\n])\s*(?:\$\(|`)/

const script = /\.(?:[cm]?[jt]sx?|sh|bash|zsh|fish|py|rb|pl|php|lua|ps1|jq|awk|sed|exe|bin)["']?$/

/** What a line only writes to, or looks for, is no script: a log, or a mark that something is to be done, changes whenever its hook runs. */
const written =
  /(?:\d?>>?|&>>?|\btee\s+(?:-a\s+)?|(?<![\w./-])(?:touch|mkdir|rm)\s+(?:-[\w-]+\s+)*|(?:\[\[?|(?<![\w./-])test)\s+(?:!\s+)?-[defhLsrwx]\s)\s*(?![&-])(?:"[^"]*"|'[^']*'|[^\s;|&()<>"']+)/g

/** What scripts keep beside them, by its name or its folder's: it changes whenever they run. */
const kept =
  /\.(?:log|jsonl|ndjson|csv|tsv|lock|pid|tmp|bak|db|sqlite3?)$|(?:^|[/_.-])(?:cache|state)\.json$|[\\/](?:logs?|state|tmp|\.?cache)[\\/][^\\/]+\.(?:json|txt|md)$/

const system = /^\/(?:usr|bin|sbin|lib|lib64|opt|nix|dev|proc|sys)(?:\/|$)/

/** Most bytes of a script that are read; of a larger one its size, its time and its number count. */
const maxScript = 67_108_864

const stateOf = (path: string): string => {
  const content = Result.getOrElse(Result.try(() => read(path, maxScript)), () => "absent" as const)
  if (content === "absent") return content
  return "problem" in content ? content.problem : `${content.mode.toString(8)} ${sha256(content.bytes)}`
}
