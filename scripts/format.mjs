// Formats every .ts and .mjs file that git tracks or would track. `--write` fixes them; without it the files that
// differ are listed.
// Paths after the options limit it to files below them: node scripts/format.mjs --write test scripts
import { createContext } from "@dprint/formatter"
import { getPath } from "@dprint/typescript"
import { execFileSync } from "node:child_process"
import { existsSync, readFileSync, writeFileSync } from "node:fs"

const formatter = createContext({ indentWidth: 2, lineWidth: 120, newLineKind: "lf" }).addPlugin(
  readFileSync(getPath()),
  {
    semiColons: "asi",
    quoteStyle: "alwaysDouble",
    trailingCommas: "never",
    operatorPosition: "maintain",
    "arrowFunction.useParentheses": "force"
  }
)
for (const { message } of formatter.getConfigDiagnostics()) throw new Error(`format: ${message}`)

const write = process.argv.includes("--write")
const below = process.argv.slice(2).filter((argument) => !argument.startsWith("--")).map((path) =>
  path.replace(/\/$/, "")
)
const within = (path) => below.length === 0 || below.some((folder) => path === folder || path.startsWith(`${folder}/`))

const listed = execFileSync("git", ["ls-files", "-co", "--exclude-standard", "-z", "--", "*.ts", "*.mjs"], {
  encoding: "utf8"
})
let differing = 0
for (const filePath of listed.split("\0").filter((path) => path !== "" && within(path) && existsSync(path))) {
  const fileText = readFileSync(filePath, "utf8")
  const formatted = formatter.formatText({ filePath, fileText })
  if (formatted === fileText) continue
  differing++
  console.log(filePath)
  if (write) writeFileSync(filePath, formatted)
}
console.log(
  differing === 0
    ? "every file is formatted"
    : write
    ? `${differing} formatted`
    : `${differing} not formatted. Run: npm run format`
)
if (differing > 0 && !write) process.exit(1)
