/** The commands of the system that clients of databases run: `.shell`, `\!` and `system`. */
import type { Word } from "../syntax/shellSyntax.ts"

const escapes: { readonly [programs: string]: RegExp } = {
  "sqlite3 sqlite duckdb": /(?:^|\n)\s*\.(?:shell|system)\s+([^\n]+)/g,
  "psql pgcli cockroach usql": /\\!\s*([^\n]+)/g,
  "mysql mariadb mycli": /(?:^|[\n;])\s*(?:\\!|system)\s+([^\n;]+)/gi
}

const byProgram: ReadonlyMap<string, RegExp> = new Map(
  Object.entries(escapes).flatMap(([programs, escape]) =>
    programs.split(" ").map((program) => [program, escape] as const)
  )
)

/** The scripts that a client of a database runs, from its arguments and its input. */
export const clientScripts = (
  name: string,
  args: ReadonlyArray<Word>,
  inputs: ReadonlyArray<Word>
): ReadonlyArray<Word> => {
  const escape = byProgram.get(name)
  if (escape === undefined) return []
  return [...args, ...inputs].flatMap((word) =>
    [...word.text.matchAll(escape)].map(([, script]) => ({ ...word, text: script! }))
  )
}
