/**
 * What decides in the calls of a coding agent. Files of the project are written freely, except those that run later by
 * themselves. Of a command, the parts decide that reach the network, install packages, publish or destroy.
 */
import type { PreToolCallEvent } from "@belay/core/Tool"
import { isAbsolute, relative, resolve } from "node:path"
import { operationsOf, ownValue } from "../../permission/internal/callOperations.ts"
import { findDestructions } from "../../permission/internal/destruction/destructive.ts"
import { type Command, decompose } from "../../permission/internal/shell/decompose.ts"
import { inert, network } from "../../permission/internal/syntax/programs.ts"
import { isAwayAskedFor } from "./away.ts"
import { check, ground, type Problem, sourceOf } from "./check.ts"
import type { Special } from "./flowHook.ts"
import type { Memory } from "./memory.ts"
import { said } from "./person.ts"
import { decisiveIn } from "./text/decisive.ts"
import { has, indexIn } from "./text/hashes.ts"
import { wordSet } from "./text/names.ts"
import { wordsOf } from "./text/words.ts"

/** Checks the commands of a shell by what they do. Other tools are checked by their arguments. */
export const commandCheck: Special = (memory, event, _call, { cwd }) => {
  const operations = operationsIn(event)
  const commands = operations.filter(({ kind }) => kind === "shell")
  if (commands.length === 0 || operations.some(({ value }) => value === undefined)) return undefined
  return { problems: commands.flatMap(({ value }) => shellProblems(memory, value!, cwd)), grounded: [], isMeant: true }
}

/** Checks commands and the files that are written by what they do. Other arguments are checked as usual. */
export const codingCheck: Special = (memory, event, call, ctx) => {
  const ofCommand = commandCheck(memory, event, call, ctx)
  if (ofCommand !== undefined) return ofCommand
  const { args } = event
  const writes = operationsIn(event).filter(({ kind }) => kind === "write")
  if (writes.length === 0 || writes.some(({ value }) => value === undefined)) return undefined
  const { grounded, problems } = check(memory, call)
  const paths = new Set<unknown>(writes.map(({ value }) => value))
  const written = ["content", "new_string"].map((name) => ownValue(args, name)).filter((text) =>
    typeof text === "string"
  )
  const script = installScript.exec(written.join("\n"))?.[1]
  const isManifest = [...paths].some((path) => String(path).endsWith("package.json"))
  return {
    grounded,
    isMeant: true,
    problems: [
      ...problems.filter(({ class: kind, value }) => kind !== "path" || !paths.has(value)),
      ...writes.flatMap(({ value }) =>
        isSaidPath(memory, value!, ctx.cwd) ? [] : [problem(memory, "path", "path", value!)]
      ),
      ...(script === undefined || !isManifest || isPhraseSaid(memory, script)
        ? []
        : [problem(memory, "content", "command", script)])
    ]
  }
}

const operationsIn = ({ args, name, tool }: PreToolCallEvent) =>
  operationsOf({ tool: name, args, readOnly: tool.readOnly ?? false })

const problem = (memory: Memory, argument: string, kind: Problem["class"], value: string): Problem => {
  const source = sourceOf(memory, value)
  return { argument, class: kind, value, problem: "ungrounded", ...(source === undefined ? {} : { source }) }
}

/** Scripts of a package that run when it is installed. */
const installScript = /"((?:pre|post)?install|prepare|prepublish\w*)"\s*:/

/** Files that run later without being called, and files from which agents take orders. */
const persistent = new RegExp(
  String.raw`(?:^|\/)(?:\.git|\.github|\.husky|\.circleci|\.vscode|\.idea|\.devcontainer|\.claude|\.cursor|\.ssh|` +
    String.raw`\.aws|\.config)(?:\/|$)|(?:^|\/)(?:\.\w*rc|\.\w*profile|\.env[^/]*|\.npmrc|\.gitconfig|` +
    String.raw`\.gitlab-ci\.yml|jenkinsfile|crontab|authorized_keys|claude\.md|agents\.md|gemini\.md|\.cursorrules|` +
    String.raw`sitecustomize\.py|conftest\.py)$`,
  "i"
)

const isFree = (path: string, cwd: string): boolean => {
  if (/^~|[$`]/.test(path)) return false
  const inside = relative(resolve(cwd), resolve(cwd, path))
  return !inside.startsWith("..") && !isAbsolute(inside) && !persistent.test(inside.replaceAll("\\", "/"))
}

const isSaidPath = (memory: Memory, path: string, cwd: string): boolean =>
  isFree(path, cwd) || said(memory, path, { class: "path", name: "path", tool: "" }) || isApproved(memory, "path", path)

const isApproved = (memory: Memory, kind: Problem["class"], value: string): boolean =>
  ground(memory, value, { class: kind, name: "", tool: "" }) !== undefined

const isPhraseSaid = (memory: Memory, phrase: string): boolean => {
  const words = wordsOf(phrase).map(memory.hash).join("")
  return words !== "" && indexIn(memory.get("words"), words) >= 0
}

/** Whether the person said a name of a package, a branch or the like, as a whole. */
const isNameSaid = (memory: Memory, name: string): boolean =>
  has(memory.get("tokens"), memory.hash(name.toLowerCase())) || isPhraseSaid(memory, name)

const shellProblems = (memory: Memory, line: string, cwd: string): ReadonlyArray<Problem> => {
  const all = decompose(line)
  if (isApproved(memory, "command", line)) return []
  const bad = problem(memory, "command", "command", line)
  if (all.unknown !== undefined) return [bad]
  const destructions = findDestructions(all, line).filter(([kind]) => kind !== "delete-recursively")
  if (destructions.some(([kind]) => !isAwayAskedFor(memory, kind) && !isAskedFor(memory, kind))) return [bad]
  const links = decisiveIn(line).filter((link) => !isLocal(link) && !isApproved(memory, "url", link))
  if (links.length > 0) return links.map((link) => problem(memory, "command", "url", link))
  const isFine = all.commands.every((command) =>
    command.via === "guess" || (isCommandFine(memory, command, cwd) && areFilesFine(memory, command, cwd))
  )
  return isFine ? [] : [bad]
}

const isLocal = (link: string): boolean =>
  /^(?:\w+:\/\/)?(?:localhost|127\.0\.0\.1|\[::1\]|0\.0\.0\.0)(?:[:/]|$)/.test(link)

/** Words with which people ask for what destroys nothing on this machine but elsewhere. */
const isAskedFor = (memory: Memory, kind: string): boolean =>
  kind === "git-force-push" && ["force", "overwrite"].some((word) => isPhraseSaid(memory, word))

/** Programs of a project: they build, test, check and format it. */
const building = wordSet(
  `tsc tsx ts-node vitest jest mocha ava tap eslint oxlint biome prettier dprint vite rollup esbuild webpack rolldown
   turbo nx make cmake ninja cargo rustc rustfmt clippy go gofmt pytest tox mypy ruff black isort flake8 pylint javac
   mvn gradle gradlew dotnet mix rake rspec rubocop bundle swift xcodebuild zig node deno bun python python3 ruby php
   perl java playwright`
)
const managers = wordSet("npm pnpm yarn bun pip pip3 uv poetry cargo gem go brew apt apt-get dnf apk composer")
const runners = wordSet("npx bunx pnpx uvx pipx")
const installing = wordSet("install i add get require update upgrade up")
const outward = wordSet(
  "publish login adduser token owner access dist-tag deprecate unpublish config set exec dlx x link"
)

const isCommandFine = (memory: Memory, { name, words, wraps }: Command, cwd: string): boolean => {
  const args = words.slice(1).map(({ text }) => text)
  const [verb = "", ...rest] = args.filter((one) => !one.startsWith("-"))
  if (words.some(({ dynamic }) => dynamic) && (network.has(name) || name === "git" || name === "gh")) return false
  if (name === "git") return isGitFine(memory, verb, rest, args)
  if (name === "gh" || name === "hub" || name === "glab") return isForgeFine(memory, verb, rest, args)
  if (runners.has(name)) return building.has(verb) || isPackageSaid(memory, verb)
  if (managers.has(name) && installing.has(verb)) return rest.every((one) => isPackageSaid(memory, one) || isFile(one))
  if (managers.has(name) && outward.has(verb)) return isPhraseSaid(memory, verb)
  if (network.has(name)) return isTransferFine(memory, args)
  if (name === "rm" || name === "rmdir" || name === "unlink" || name === "shred") {
    const paths = args.filter((one) => !one.startsWith("-"))
    return isAwayAskedFor(memory, "delete") && paths.every((path) => isDeletable(memory, path, args))
  }
  if (building.has(name)) return !isInlineCode(args)
  if (name === "sudo" || name === "doas" || name === "su") return false
  if (risky.has(name)) return looking.has(verb)
  // What a wrapper runs is another command of the line.
  return managers.has(name) || inert.has(name) || wraps ||
    (isFree(name, cwd) && /^\.{0,2}\//.test(words[0]?.text ?? ""))
}

const risky = wordSet(
  `docker podman kubectl helm terraform aws gcloud az systemctl service crontab at launchctl psql mysql sqlite3
   redis-cli mongosh chmod chown useradd userdel passwd mount umount kill killall pkill export alias source`
)
const looking = wordSet("ps images logs get describe list ls plan show status version diff inspect +x u+x 644 755")

/** Code in an argument that reaches the network, other programs or hidden text. */
const isInlineCode = (args: ReadonlyArray<string>): boolean =>
  args.some((one) => /^-\w*[ec]$|^--(?:eval|print|exec)$/.test(one)) &&
  args.some((one) =>
    /https?|fetch|socket|net\b|urllib|request|child_process|subprocess|exec|eval|atob|base64|Buffer\.from|import\s*\(/i
      .test(one)
  )

const isPackageSaid = (memory: Memory, text: string): boolean =>
  isNameSaid(memory, text) || isNameSaid(memory, text.replace(/(?<=.)(?:@|[=<>~^!]=?).*$/, ""))

const isFile = (text: string): boolean => /^\.{0,2}\/|^\.$|\.(?:txt|toml|lock|json)$/.test(text)

const isDeletable = (memory: Memory, path: string, args: ReadonlyArray<string>): boolean => {
  const isWhole = args.some((one) => /^-\w*[rR]|^--recursive/.test(one))
  // `test` is a word of many requests; a folder that is deleted with all that is in it has to be named as one.
  return isWhole
    ? ["folder", "directory", "dir"].some((word) =>
      isPhraseSaid(memory, `${path} ${word}`) || isPhraseSaid(memory, `${word} ${path}`)
    ) || (path.includes("/") && isNameSaid(memory, path))
    : said(memory, path, { class: "path", name: "path", tool: "" })
}

const isTransferFine = (memory: Memory, args: ReadonlyArray<string>): boolean => {
  const sends = args.some((one) => /^-\w*[dFT]|^--(?:data|form|upload|post|json)|@/.test(one))
  // Links have been checked; a host without a scheme has not.
  const targets = args.filter((one) => !one.startsWith("-"))
  return !sends && targets.length > 0 && targets.every((one) => isLocal(one) || isApproved(memory, "url", one))
}

const isGitFine = (
  memory: Memory,
  verb: string,
  rest: ReadonlyArray<string>,
  args: ReadonlyArray<string>
): boolean => {
  if (args.some((one) => /^(?:-c|--config|--upload-pack|--receive-pack|--exec)/.test(one))) return false
  if (verb === "push") {
    const isAsked = ["push", "publish", "pull request", "pr", "release", "merge request"].some((one) =>
      isPhraseSaid(memory, one)
    )
    const [remote = "origin", ...refs] = rest
    return isAsked && (remote === "origin" || isNameSaid(memory, remote)) &&
      refs.every((ref) => ref === "HEAD" || isNameSaid(memory, ref))
  }
  if (verb === "remote" || verb === "config" || verb === "submodule") {
    return rest.length === 0 || /^(?:get|list|show|status|-v)/.test(rest[0]!)
  }
  if (verb === "clone") return rest.slice(0, 1).every((one) => isApproved(memory, "url", one))
  if (verb === "fetch" || verb === "pull") {
    return rest.slice(0, 1).every((one) => one === "origin" || isNameSaid(memory, one))
  }
  return gitVerbs.has(verb)
}

const gitVerbs = wordSet(
  `status log diff show add commit branch checkout switch restore stash blame grep ls-files merge rebase cherry-pick
   tag describe rev-parse shortlog reflog mv worktree apply init rm reset clean`
)

const isForgeFine = (
  memory: Memory,
  noun: string,
  [verb = "", ...rest]: ReadonlyArray<string>,
  args: ReadonlyArray<string>
): boolean => {
  if (noun === "api") return !args.some((one) => /^-\w*[XFf]|^--(?:method|field|raw-field|input)/.test(one))
  if (
    /^(?:view|list|status|diff|checks|watch|checkout|clone|download|browse|search)$/.test(verb) || noun === "status"
  ) return true
  const names = noun === "pr" ? ["pr", "pull request", "merge request"] : [noun]
  const isAsked = isPhraseSaid(memory, verb) || names.some((name) => isPhraseSaid(memory, `${verb} ${name}`)) ||
    (verb === "create" && names.some((name) => isPhraseSaid(memory, name)))
  const id = rest[0]
  return isAsked &&
    (id === undefined || !/^\d+$/.test(id) || said(memory, id, { class: "id", name: `${noun}_id`, tool: "" }))
}

const areFilesFine = (memory: Memory, { name, redirects, words }: Command, cwd: string): boolean => {
  const operands = copying.has(name)
    ? words.slice(1).map(({ text }) => text).filter((text) => !text.startsWith("-"))
    : []
  const written = redirects.filter(({ op }) => op.includes(">")).map(({ target }) => target.text)
  return [...operands, ...written].every((path) =>
    path === "/dev/null" || /^&?\d$/.test(path) || isSaidPath(memory, path, cwd)
  )
}

const copying = wordSet("cp mv ln install tee touch sed dd truncate")
