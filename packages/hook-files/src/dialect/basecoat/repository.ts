/** Finds the repository and the branch of a folder. It reads the files of git and starts no process. */
import { dirname, join, resolve } from "node:path"
import { read, real } from "../../internal/files.ts"

const none = { repository: "", branch: "" }

/** Finds the repository that contains a folder. A git file with unexpected content is treated as missing. */
export const whereabouts = (cwd: string): { readonly repository: string; readonly branch: string } => {
  for (let folder = real(cwd);; folder = dirname(folder)) {
    const git = folderOf(join(folder, ".git"))
    const head = git === undefined ? undefined : textOf(join(git, "HEAD"))
    if (git !== undefined && head !== undefined) {
      const common = textOf(join(git, "commondir"))
      const config = textOf(join(common === undefined ? git : resolve(git, common.trim()), "config")) ?? ""
      return {
        repository: clean(origin(config) ?? folder.split(/[\\/]/).at(-1) ?? ""),
        branch: clean(branchOf(head.trim()))
      }
    }
    if (dirname(folder) === folder) return none
  }
}

/** Returns the git folder. In a worktree `.git` is a file that contains the path of the git folder. */
const folderOf = (path: string): string | undefined => {
  if (textOf(join(path, "HEAD")) !== undefined) return path
  const [, elsewhere] = /^gitdir: (.+)$/m.exec(textOf(path) ?? "") ?? []
  return elsewhere === undefined ? undefined : resolve(dirname(path), elsewhere.trim())
}

const branchOf = (head: string): string =>
  /^ref: refs\/heads\/(.+)$/.exec(head)?.[1] ?? (/^[0-9a-f]{12}/.exec(head)?.[0] ?? "")

/** Returns only the last two parts of the URL, because the rest may contain credentials. */
const origin = (config: string): string | undefined => {
  const section = /^\s*\[remote "origin"\]([^[]*)/m.exec(config)?.[1] ?? ""
  const url = /^\s*url\s*=\s*(\S+)\s*$/m.exec(section)?.[1]
  return url === undefined ? undefined : /([^/:@\s]+\/[^/:@\s]+?)(?:\.git)?\/?$/.exec(url)?.[1]
}

const textOf = (path: string): string | undefined => {
  const content = read(path, 65_536)
  return content === "absent" || "problem" in content ? undefined : content.bytes.toString("utf8")
}

// oxlint-disable-next-line no-control-regex -- the function removes control characters
const clean = (text: string): string => text.replaceAll(/[\u0000-\u001f\u007f]/g, "").slice(0, 200).toWellFormed()
