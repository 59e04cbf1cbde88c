/** A rule about scripts that keep something where a decision about their project looks. */
import { scriptFolders } from "@belay/hooks/Discovery"
import { dirname, relative, resolve } from "node:path"
import { type Said, said } from "./finding.ts"
import type { Script } from "./scripts.ts"

/** Names that may change there. */
const kept =
  /\.(?:log|jsonl|ndjson|csv|tsv|lock|pid|tmp|bak|db|sqlite3?)$|(?:^|[/_.-])(?:cache|state)\.json$|\/(?:logs?|state|tmp|\.?cache)\/[^/]+$/

/** The file, where it is certain. */
export const state = ({ path }: Script, code: string, { cwd }: { readonly cwd: string }): ReadonlyArray<Said> => {
  const beside = /\$\(\s*dirname\s+(?:--\s+)?"?\$(?:0|\{?BASH_SOURCE(?:\[0\])?\}?)"?\s*\)|\$\{(?:0|BASH_SOURCE(?:\[0\])?)%\/\*\}/g
  const project = /"?\$\{?(?:CLAUDE|GEMINI|COPILOT)_PROJECT_DIR\}?"?(?=\/)/g
  const simple = code.replaceAll(beside, () => dirname(path)).replaceAll(project, () => cwd)
  const folders = new Map(
    [...simple.matchAll(
      /^[ \t]*(\w+)="?(?:\$\(\s*cd\s+"?(\/[^"$&;\n]{0,500})"?\s*(?:>\s*\/dev\/null\s*(?:2>&1\s*)?)?&&\s*pwd(?:\s+-P)?\s*\)|(\/[^"$()\s]{0,500}))"?[ \t]*$/gm
    )]
      .map(([, name, inner, plain]) => [name!, (inner ?? plain)!] as const)
  )
  const filled = simple.replaceAll(/\$\{?(\w+)\}?/g, (whole, name: string) => folders.get(name) ?? whole)
  const found = [...filled.matchAll(/(?:^|[\s\d)])>>?\|?\s*"?([^\s"';|&()<>$]+)(?=[\s"';|&)]|$)/gm)].map(([, target]) =>
    resolve(cwd, target!)
  ).find(
    (target) => {
      const inside = relative(cwd, target)
      return scriptFolders.some((folder) => inside.startsWith(`${folder}/`)) && !kept.test(target)
    }
  )
  return found === undefined ? [] : [
    said(
      "warning",
      "state-beside",
      `${path} writes ${relative(cwd, found)}, in a folder of scripts`,
      "a change there is a change of what was trusted: nothing of the project runs any more until somebody says yes again",
      "Write it elsewhere, such as in $TMPDIR, or give it a name that may change: *.log, *.jsonl, state.json."
    )
  ]
}
