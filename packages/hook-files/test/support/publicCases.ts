/** Guards of Claude Code with their decisions, as tests. */
import { assert, describe, it } from "@effect/vitest"
import { type Call, command, decide } from "./publicAgent.ts"

export interface Case {
  readonly what: string
  /** The script of a file, or a line of the settings. */
  readonly script?: string
  readonly line?: string
  readonly entry?: object
  readonly file?: string
  readonly files?: { readonly [path: string]: string }
  readonly matcher?: string
  readonly call?: Call
  /** `ran` as it was, with these arguments, or why it did not. */
  readonly decision: "ran" | { readonly [argument: string]: unknown } | RegExp | readonly ["asked" | "stopped", RegExp]
  readonly warning?: RegExp
  readonly notice?: string
  readonly heard?: string
}

/** A call of a shell. */
export const bash = (line: string): Call => ["Bash", { command: line }]
/** JSON that denies. */
export const deny = (reason: string, more: object = {}) =>
  JSON.stringify({
    hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision: "deny", permissionDecisionReason: reason },
    ...more
  })

const judge = async (
  { call, decision, entry, file = "guard", files = {}, heard, line, matcher, notice, script, warning, what }: Case
) => {
  const at = `.claude/hooks/${file}`
  const found = await decide({
    hooks: [command(line ?? `"$CLAUDE_PROJECT_DIR"/${at}`, { timeout: 30, ...entry })],
    files: { ...files, ...(script === undefined ? {} : { [at]: script }) },
    ...(matcher === undefined ? {} : { matcher }),
    ...(call === undefined ? {} : { call })
  })
  const all = JSON.stringify({ ...found, heard: undefined })
  if (decision === "ran") {
    assert.strictEqual(found.is, "ran", `${what}: ${all}`)
    assert.deepEqual(found.is === "ran" ? found.args : undefined, (call ?? bash("ls"))[1], what)
  } else if (decision instanceof RegExp) {
    assert.strictEqual(found.is, "blocked", `${what}: ${all}`)
    assert.match(found.is === "blocked" ? found.reason : "", decision, what)
  } else if (Array.isArray(decision)) {
    assert.strictEqual(found.is, decision[0], `${what}: ${all}`)
    assert.match("reason" in found ? found.reason : "", decision[1] as RegExp, what)
  } else assert.deepEqual(found.is === "ran" ? found.args : found, decision as never, `${what}: ${all}`)
  if (warning === undefined) assert.deepEqual(found.warnings, [], what)
  else assert.match(found.warnings.join("\n"), warning, what)
  assert.deepEqual(found.notices, notice === undefined ? [] : [notice], what)
  if (heard !== undefined) assert.include(found.heard, heard, what)
}

/** Tests of scripts. */
export const group = (title: string, cases: ReadonlyArray<Case>) =>
  describe(title, () => {
    for (const one of cases) it(one.what, () => judge(one))
  })
