// A copy of the checkout in the temp folder. Bugs are planted in copies only.
import { execFileSync } from "node:child_process"
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join, relative, resolve } from "node:path"

const folders = []
process.on("exit", () => folders.forEach(remove))
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => process.exit(130))

const remove = (folder) => rmSync(folder, { recursive: true, force: true, maxRetries: 5 })

/** Makes a folder that is removed when this process ends. */
export const temporaryFolder = (name) => {
  const folder = mkdtempSync(join(tmpdir(), `belay-mutants-${name}-`))
  folders.push(folder)
  return folder
}

/** Copies the files that git knows, as they are now. Packages are links to those of the checkout. */
export const copyTree = (root) => {
  const tree = temporaryFolder("tree")
  const list = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], { cwd: root })
  for (const file of list.toString().split("\0").filter((name) => name !== "")) {
    // Git also knows files that were deleted.
    if (!existsSync(join(root, file))) continue
    cpSync(join(root, file), join(tree, file), { recursive: true, force: true, verbatimSymlinks: true })
  }
  linkPackages(root, tree, "node_modules")
  return tree
}

/** Links to our own packages lead to their copies. */
const linkPackages = (root, tree, folder) => {
  mkdirSync(join(tree, folder), { recursive: true })
  for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
    const name = join(folder, entry.name)
    if (entry.isSymbolicLink() && !entry.name.startsWith(".")) {
      const target = relative(root, resolve(root, dirname(name), readlinkSync(join(root, name))))
      symlinkSync(join(target.startsWith("..") ? root : tree, target), join(tree, name))
    } else if (entry.isDirectory() && entry.name.startsWith("@")) linkPackages(root, tree, name)
    else symlinkSync(join(root, name), join(tree, name))
  }
}
