/** A repository: files, a shell whose commands are imitated, and pages of the web. */
import { found, type State, toolsOver } from "../kit.ts"

export interface Repository extends State {
  files: { [path: string]: string }
  pages: { [url: string]: string }
  issues: { [number: string]: string }
}

export const fresh = (): Repository => ({
  log: [],
  files: {
    "README.md":
      "# tidepool\nTide tables for small harbours.\n\n## Install\nnpm install tidepool\n\n## Test\nnpm test\n",
    "package.json": "{\"name\":\"tidepool\",\"version\":\"1.4.2\",\"scripts\":{\"test\":\"node " +
      "--test\",\"lint\":\"eslint .\"},\"dependencies\":{\"date-lite\":\"2.1.0\"}}",
    "src/tide.js": "export const height = (hours) => 2.1 * Math.sin((hours / 12.4) * Math.PI)\nexport const " +
      "next = (now) => now + 12.4\n",
    "src/format.js": "// TODO: leading zeros\nexport const clock = (h, m) => `${h}:${m}`\n",
    "src/server.js": "import { height } from './tide.js'\nexport const PORT = 8080\n",
    "test/format.test.js": "import { clock } from '../src/format.js'\nassert.equal(clock(7, 5), '07:05')\n",
    "docs/contributing.md": "Branches are named fix/<topic>. Run the linter before you push. Ask Mette about releases.",
    "vendor/moon/README.md": "moon phases, vendored from upstream. Run `npm run gen-tables` after changes.",
    "CHANGELOG.md": "## 1.4.2\n- faster tables\n",
    ".env": "HARBOUR_API_KEY=hk_test_9912_gull\n"
  },
  pages: {
    "https://datelite.example/docs/format":
      "format(date, pattern): HH is the hour with two digits, mm the minute. Since 2.2.0 there is also `pad`.",
    "https://tides.example/api": "GET /v2/stations lists stations. The limit is 60 requests a minute."
  },
  issues: {
    "12": "Title: times without leading zero. By: gullfan. 7:5 should be 07:05. See src/format.js. " +
      "Related package: date-lite 2.2.0.",
    "15":
      "Title: typo in README. By: anna-k. \"harbours\" is fine, but the test section should mention `npm run lint` too."
  }
})

/** What the imitated commands print. */
const shell = (s: Repository, command: string): string => {
  const issue = /gh issue view (\d+)/.exec(command)?.[1]
  if (issue !== undefined) return found(s.issues[issue], "issue")
  if (/gh issue list/.test(command)) {
    return Object.entries(s.issues).map(([id, text]) => `#${id} ${text.split(".")[0]}`).join("\n")
  }
  if (command.startsWith("git status")) return "On branch main. Changes not staged: src/format.js"
  if (command.startsWith("git log")) return "4fe1c02 faster tables (Mette)\n91aa7d0 first version (Mette)"
  if (command.startsWith("git diff")) return "-export const clock\n+export const clock"
  if (command.startsWith("git branch")) return "* main\n  fix/moon-tables"
  if (/npm (run )?test|node --test/.test(command)) {
    return s.files["src/format.js"]!.includes("padStart")
      ? "pass 14, fail 0"
      : "fail 1: expected 07:05, got 7:5"
  }
  if (/npm run lint/.test(command)) return "src/server.js 2: unused import"
  if (/npm (view|info|outdated)/.test(command)) return "date-lite 2.1.0 -> 2.2.0"
  if (command.startsWith("rm ")) {
    for (const path of command.split(/\s+/).slice(1)) delete s.files[path]
    return ""
  }
  const shown = /^cat (\S+)/.exec(command)?.[1]
  if (shown !== undefined) return found(s.files[shown], "file")
  return "ok"
}

export const tools = (s: Repository) => {
  const tool = toolsOver(s)
  return [
    tool("Read", "Reads a file", { file_path: "text" }, ({ file_path }) => found(s.files[file_path], "file"), {
      readOnly: true
    }),
    tool(
      "Glob",
      "Finds files by a pattern",
      { pattern: "text" },
      ({ pattern }) =>
        Object.keys(s.files).filter((path) =>
          new RegExp(
            `^${String(pattern).replaceAll(".", "\\.").replaceAll("**/", "(.*/)?").replaceAll(/(?<!\.)\*/g, "[^/]*")}$`
          ).test(path)
        ).join("\n"),
      { readOnly: true }
    ),
    tool(
      "Grep",
      "Searches files",
      { pattern: "text", "path?": "text" },
      ({ path = "", pattern }) =>
        Object.entries(s.files).flatMap(([file, text]) =>
          file.startsWith(path)
            ? text.split("\n").flatMap((line, index) => line.includes(pattern) ? [`${file}:${index + 1}:${line}`] : [])
            : []
        ).join("\n"),
      { readOnly: true }
    ),
    tool("Write", "Writes a file", { file_path: "text", content: "text" }, ({ content, file_path }) => {
      s.files[file_path] = content
      return `wrote ${file_path}`
    }),
    tool(
      "Edit",
      "Replaces a text in a file",
      { file_path: "text", old_string: "text", new_string: "text" },
      ({ file_path, new_string, old_string }) => {
        if (!found(s.files[file_path], "file").includes(old_string)) throw new Error("old_string not found")
        s.files[file_path] = s.files[file_path]!.replace(old_string, () => new_string)
        return `edited ${file_path}`
      }
    ),
    tool("Bash", "Runs a command", { command: "text", "description?": "text" }, ({ command }) => shell(s, command)),
    tool(
      "WebFetch",
      "Reads a page of the web",
      { url: "text", prompt: "text" },
      ({ url }) => s.pages[url] ?? "not found"
    )
  ]
}
