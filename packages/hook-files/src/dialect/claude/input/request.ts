/** Passes the folders of the project, of plugins and of skills to commands. */
import type { Work } from "../../../runner/Runners.ts"
import type { Handler } from "../config/HookConfig.ts"
import type { Flavor } from "./flavor.ts"

interface Setup {
  readonly flavor: Flavor
  readonly projectDir: string
}

export const foldersOf = (
  { origin }: Handler,
  { flavor, projectDir }: Setup
): { readonly [name: string]: string } => {
  const folders: Record<string, string> = Object.fromEntries(flavor.projectVariables.map((name) => [name, projectDir]))
  if (origin === undefined) return folders
  // A skill or an agent without a plugin has its own folder as the folder of a plugin.
  const { data, root } = origin.plugin ?? origin
  if (origin.type === "skill") folders["CLAUDE_SKILL_DIR"] = origin.root
  for (const prefix of flavor.pluginPrefixes) {
    folders[`${prefix}PLUGIN_ROOT`] = root
    if (data !== undefined) folders[`${prefix}PLUGIN_DATA`] = data
  }
  return folders
}

/**
 * Returns the work of an entry. A shell line runs in the shell of its system. In a program with arguments, the
 * variables of folders are replaced by their values.
 */
export const workWithFolders = (entry: Handler, setup: Setup): Work => {
  const { work } = entry
  if (work.type !== "command") return work
  if (work.args === undefined) return setup.flavor.shell(work)
  const folders = foldersOf(entry, setup)
  const fill = (text: string) =>
    text.replaceAll(
      /\$\{(CLAUDE_PROJECT_DIR|CLAUDE_PLUGIN_ROOT|CLAUDE_PLUGIN_DATA|CLAUDE_SKILL_DIR)\}/g,
      (whole, name: string) => folders[name] ?? whole
    )
  return { type: "command", command: fill(work.command), args: work.args.map(fill) }
}
