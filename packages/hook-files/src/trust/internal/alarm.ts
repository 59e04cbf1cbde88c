/**
 * Notices which files of a project change, so that not each of thousands of files is looked at before each start of an
 * entry. It exists on Node for Linux, where the system reports a change before the program that made it goes on.
 */
import * as Result from "effect/Result"
import { type FSWatcher, statfsSync, statSync, watch } from "node:fs"
import { dirname } from "node:path"
import { inside } from "./files.ts"

export interface Alarm {
  /** The paths that changed since the last call, or undefined if any path may have changed. */
  readonly heard: () => ReadonlySet<string> | undefined
  readonly close: () => void
}

/** The most folders that are watched. */
const maxFolders = 4_000

/** A change through another path, such as one of a file in memory, is not noticed. So all files are looked at again. */
const lifetime = 30_000

/** Local file systems. Others do not report the changes that other computers make. */
const local: ReadonlySet<number> = new Set([
  0xef_53, // ext2, ext3, ext4
  0x91_23_68_3e, // Btrfs
  0x58_46_53_42, // XFS
  0x01_02_19_94, // tmpfs
  0x79_4c_76_30, // overlayfs
  0x2f_c1_2f_c1, // ZFS
  0xf2_f5_20_10 // F2FS
])

const isPossible = process.platform === "linux" && process.versions["bun"] === undefined &&
  process.versions["deno"] === undefined

/** Some systems give the number with a sign. */
const isLocal = (folder: string): boolean => local.has(statfsSync(folder).type >>> 0)

/** Returns nothing if not all folders can be watched. */
export const make = (folders: ReadonlySet<string>): Alarm | undefined => {
  if (!isPossible || folders.size > maxFolders) return undefined
  const watchers: Array<FSWatcher> = []
  let changed: Set<string> | undefined = new Set<string>()
  const close = () => {
    changed = undefined
    for (const watcher of watchers.splice(0)) watcher.close()
  }
  for (const folder of folders) {
    const watcher = Result.try(() => {
      if (!isLocal(folder)) return undefined
      return watch(folder, { persistent: false }, (_, name) => {
        const path = name === null ? folder : inside(folder, name)
        // What is in a folder that was moved is somewhere else.
        if (folders.has(path)) close()
        else changed?.add(path).add(folder)
      }).on("error", close)
    })
    if (Result.isFailure(watcher) || watcher.success === undefined) {
      close()
      return undefined
    }
    watchers.push(watcher.success)
  }
  setTimeout(close, lifetime).unref()
  const above = new Map(aboveOf(folders).map((path) => [path, identityOf(path)]))
  return {
    heard: () => {
      for (const [path, identity] of above) if (identityOf(path) !== identity) close()
      const heard = changed
      if (changed !== undefined) changed = new Set()
      return heard
    },
    close
  }
}

/** The folders that contain all of them, and in which nothing is noticed. */
const aboveOf = (folders: ReadonlySet<string>): ReadonlyArray<string> => {
  const found = new Set<string>()
  for (let folder of folders) {
    if (folders.has(dirname(folder))) continue
    for (; !found.has(folder); folder = dirname(folder)) found.add(folder)
  }
  return [...found]
}

const identityOf = (path: string): string | undefined => {
  const stat = Result.getOrUndefined(Result.try(() => statSync(path, { throwIfNoEntry: false })))
  return stat === undefined ? undefined : `${stat.dev} ${stat.ino}`
}

/**
 * Waits until everything that happened was noticed. The events of one turn of the loop may have been fetched before the
 * last change.
 */
export const caughtUp = (): Promise<void> =>
  new Promise((resolve) => void setImmediate(() => void setImmediate(() => resolve())))
