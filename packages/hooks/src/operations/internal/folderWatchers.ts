/** Watches a changing set of folders. */
import * as Result from "effect/Result"
import type { FSWatcher } from "node:fs"
import { nodeFs } from "../../internal/nodeFs.ts"

/** A class: it holds the open watchers, which have to be closed. */
export class FolderWatchers {
  private readonly watchers = new Map<string, FSWatcher>()
  private readonly onChange: () => void

  constructor(onChange: () => void) {
    this.onChange = onChange
  }

  /** Watches exactly these folders. A folder that cannot be watched is skipped. */
  set(folders: ReadonlyArray<string>): void {
    const wanted = new Set(folders)
    for (const folder of [...this.watchers.keys()]) if (!wanted.has(folder)) this.remove(folder)
    for (const folder of wanted) if (!this.watchers.has(folder)) this.add(folder)
  }

  close(): void {
    for (const folder of [...this.watchers.keys()]) this.remove(folder)
  }

  private add(folder: string): void {
    const watcher = Result.getOrUndefined(
      Result.try(() => nodeFs().watch(folder, { persistent: false }, this.onChange))
    )
    if (watcher === undefined) return
    watcher.on("error", () => {
      this.remove(folder)
      this.onChange()
    })
    this.watchers.set(folder, watcher)
  }

  private remove(folder: string): void {
    this.watchers.get(folder)?.close()
    this.watchers.delete(folder)
  }
}
