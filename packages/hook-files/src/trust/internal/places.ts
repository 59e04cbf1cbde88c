/** Replaces variables for folders in lines, so that the shell reads each folder as one word. */

export interface Places {
  /** Variables for the folder of the project. */
  readonly cwd: string
  readonly home: string
  /** Variables for the folder of a plugin. */
  readonly root?: string
}

const names: ReadonlyArray<readonly [RegExp, string]> = [
  [
    new RegExp(
      String.raw`\$\{?(?:(?:CLAUDE|GEMINI|COPILOT|CURSOR|FACTORY)_PROJECT_DIR|workspacePath|GEMINI_CWD|PWD|` +
        String.raw`INIT_CWD)\b(?::?[-?][^}]*)?\}?|\$env:CLAUDE_PROJECT_DIR`,
      "g"
    ),
    "/@project"
  ],
  [
    new RegExp(
      String.raw`"\$\(\s*(?:git rev-parse --show-toplevel|pwd)(?:\s+[^()"]*)?\)"?|` +
        String.raw`\$\(\s*(?:git rev-parse --show-toplevel|pwd)(?:\s+[^()]*)?\)`,
      "g"
    ),
    "/@project"
  ],
  [/\$\{?(?:CLAUDE_|DROID_)?PLUGIN_ROOT\}?/g, "/@plugin"],
  [/\$\{?HOME\b\}?/g, "/@home"]
]

export const placed = (text: string): string =>
  text.includes("$")
    ? names.reduce(
      (line, [name, path]) =>
        line.replaceAll(name, (found) =>
          `${found.startsWith("\"") ? "\"" : ""}${path}${/^".*"$/s.test(found) ? "\"" : ""}`),
      text
    )
    : text

export const unplaced = (path: string, { cwd, home, root = cwd }: Places): string =>
  path.replace(/^\/@project/, () => cwd).replace(/^(?:\/@home|~)(?=\/|$)/, () => home).replace(/^\/@plugin/, () => root)

/** Replaces variables that the line sets exactly once to a plain value. */
export const filled = (line: string): string => {
  if (!line.includes("$")) return line
  const values = new Map<string, string>()
  const sets = /(?:^|[\s;&|(])([A-Za-z_]\w*)=(?:"([^"]*)"|'([^']*)'|([^\s;|&()<>"'`]*))(?=[\s;&|)]|$)/g
  for (const [, name = "", double, single, bare] of line.matchAll(sets)) {
    const value = double ?? single ?? bare ?? ""
    values.set(name, !/^[\w/.@:+-]+$/.test(value) || (values.get(name) ?? value) !== value ? "" : value)
  }
  return line.replaceAll(
    /\$(?:\{(\w+)\}|(\w+))/g,
    (whole, braced?: string, bare?: string) => values.get(braced ?? bare ?? "") || whole
  )
}
