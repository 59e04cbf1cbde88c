/** Asks whether a project is trusted, and which of its entries may run. */
import { ConfigError } from "@belay/core/AgentError"
import { defined } from "@belay/core/Fields"
import * as Result from "effect/Result"
import { resolve } from "node:path"
import * as Discovery from "../discovery/Discovery.ts"
import { isOfPolicy } from "../discovery/settled.ts"
import { shown } from "../engine/record.ts"
import type { Untrusted, UntrustedEntry } from "../HookFiles.ts"
import * as Changes from "../trust/internal/changes.ts"
import * as Covered from "../trust/internal/covered.ts"
import * as Files from "../trust/internal/files.ts"
import * as Remembered from "../trust/internal/remembered.ts"
import * as Watch from "../trust/internal/watch.ts"
import * as Trust from "../trust/Trust.ts"
import { isInside, real } from "./files.ts"

interface Project {
  readonly cwd: string
  readonly home: string
  /** The folder in which decisions are stored. */
  readonly trust: string
  /** The files of the project that are loaded. */
  readonly sources: ReadonlyArray<Discovery.Source>
  /** The sources that no setting turns off. */
  readonly counting: ReadonlyArray<Discovery.Source>
  /** Reads the current sources. */
  readonly find: () => ReadonlyArray<Discovery.Source>
}

/**
 * Decides whether the hooks of the project may run. Throws a `ConfigError` if the folder `trust` is inside the project.
 */
export const decide = ({ counting, cwd, find, home, sources, trust }: Project) => {
  const own = counting.filter(({ ofProject }) => ofProject)
  const entries = own.flatMap(({ config }) => config.handlers)
  const isAsked = entries.length > 0 || own.some(({ config }) => config.warnings.some(isOfPolicy))
  // If the project is the home folder, the default folder is inside of it, and nothing is trusted.
  if (isAsked && resolve(trust) !== resolve(cwd, ".belay", "trust")) Result.getOrThrow(outside(cwd, trust))
  const store = Trust.folder(trust)
  const before = isAsked ? Remembered.read(trust, cwd) : undefined
  const seen = Files.make(Remembered.known(before))
  const covered: Covered.Covered = isAsked ? Covered.of(cwd, sources, home, seen) : new Map()
  const fingerprint = Covered.print(cwd, covered)
  const isTrusted = isAsked && store.isTrusted(cwd, fingerprint)
  const files = new Set([...own.map(({ path }) => path), ...entries.map(({ file }) => file)])
  const watch = Watch.make({
    cwd,
    home,
    files: seen,
    sources,
    trusted: covered,
    find,
    isTrusted: (current) => store.isTrusted(cwd, current)
  })
  const changed = onceATick(watch.changed)
  /** Returns the reason why an entry of the project may not run now, or undefined if it may run. */
  const refuse = ({ file }: Pick<Discovery.Entry, "file">) => {
    const path = files.has(file) ? changed() : undefined
    return path === undefined
      ? undefined
      : `hooks of this project changed since they were trusted (${path}): review them, and run \`belay hooks trust\``
  }
  const textOf = (path: string) => Covered.textOf(sources, path)
  const untrusted: Untrusted = {
    project: real(cwd),
    commands: entries.map(untrustedEntry),
    fingerprint,
    trust: () => {
      Result.getOrThrow(outside(cwd, trust))
      store.trust(cwd, fingerprint)
      // The decision does not depend on it.
      Result.try(() => Remembered.write(trust, cwd, covered, seen, textOf))
    },
    changes: () => before === undefined ? undefined : Changes.between(before, covered, textOf)
  }
  return {
    isTrusted,
    untrusted: !isAsked || isTrusted ? [] : [untrusted],
    refuse: Object.assign(refuse, { ready: watch.ready })
  }
}

const untrustedEntry = ({ event, file, key, work }: Discovery.Entry): UntrustedEntry => ({
  event,
  file,
  key,
  command: work.type === "command" ? work.command : shown(work),
  ...defined({ args: work.type === "command" ? work.args : undefined })
})

/** Calls `look` at most once in a turn of the event loop, because all entries of one event start together. */
const onceATick = <A>(look: () => A): () => A => {
  let seen: { readonly found: A } | undefined
  return () => {
    if (seen === undefined) setImmediate(() => void (seen = undefined))
    return (seen ??= { found: look() }).found
  }
}

const outside = (cwd: string, trust: string): Result.Result<void, ConfigError> => {
  if (!isInside(cwd, resolve(trust)) && !isInside(real(cwd), real(resolve(trust)))) return Result.succeed(undefined)
  const message = `hook-files.trust: expected a folder outside of the project ${cwd}, found ${trust}`
  return Result.fail(new ConfigError({ key: "hook-files.trust", message }))
}
