#!/usr/bin/env node
// Makes a project from a template. It has no dependencies, so that `npm create @belay` starts at once.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { basename, join, resolve } from "node:path"
import { createInterface } from "node:readline/promises"
import { parseArgs } from "node:util"

const templates = {
  chat: "an agent with a tool, in the terminal",
  guarded: "a coding agent that asks before it changes anything",
  service: "an agent behind HTTP, with sessions that survive restarts"
}

const help = `npm create @belay [folder] -- [--template <name>]

${Object.entries(templates).map(([name, what]) => `  ${name.padEnd(9)} ${what}`).join("\n")}
`

const fail = (message) => {
  console.error(`@belay/create: ${message}`)
  process.exit(2)
}

const [major, minor] = process.versions.node.split(".").map(Number)
if (major < 22 || (major === 22 && minor < 22)) fail(`needs Node 22.22 or newer, found ${process.versions.node}`)

const read = () => {
  try {
    return parseArgs({
      allowPositionals: true,
      options: { template: { type: "string" }, help: { type: "boolean", short: "h", default: false } }
    })
  } catch (error) {
    return fail(error.message)
  }
}

const ask = async (question, answer) => {
  if (!process.stdin.isTTY || !process.stdout.isTTY) return answer
  const lines = createInterface({ input: process.stdin, output: process.stdout })
  const given = (await lines.question(`${question} (${answer}) `)).trim()
  lines.close()
  return given === "" ? answer : given
}

const { positionals, values } = read()
if (values.help) {
  console.log(help)
  process.exit(0)
}
if (positionals.length > 1) fail(`expected one folder, found ${positionals.join(", ")}`)
const given = positionals[0] ?? await ask("Folder?", "my-agent")
const template = values.template ?? await ask(`Template: ${Object.keys(templates).join(", ")}?`, "chat")
if (!Object.hasOwn(templates, template)) {
  fail(`there is no template ${template}; the templates are ${Object.keys(templates).join(", ")}`)
}
const folder = resolve(given)
if (existsSync(folder) && readdirSync(folder).some((name) => name !== ".git")) {
  fail(`${folder} is not empty: choose another folder`)
}

mkdirSync(folder, { recursive: true })
cpSync(new URL(`../templates/${template}/`, import.meta.url), folder, { recursive: true })
cpSync(new URL("../common/", import.meta.url), folder, { recursive: true })
// npm leaves files named .gitignore out of packages.
renameSync(join(folder, "gitignore"), join(folder, ".gitignore"))
const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))
const name = basename(folder).toLowerCase().replaceAll(/[^a-z0-9-]+/g, "-").replaceAll(/^-+|-+$/g, "") || "my-agent"
writeFileSync(join(folder, "package.json"), `${JSON.stringify({ ...manifest, name }, null, 2)}\n`)

console.log(`Made ${folder} from the template ${template}: ${templates[template]}.

  cd ${given}
  npm install
  npm start      runs it; no key is needed to try
  npm test       tests it
`)
