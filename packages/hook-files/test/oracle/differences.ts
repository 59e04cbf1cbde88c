/** What Belay does otherwise than Claude Code, by the first cell of its line in "What differs" of docs/claude-code.md. */
import { type Outcome, refused } from "./setting.ts"

export interface Difference {
  /** The first cell of the line. */
  readonly line: string
  /** What happens in Belay, by the name of the setting. */
  readonly settings: { readonly [name: string]: Partial<Outcome> }
}

const runs = (hooks: ReadonlyArray<number>, more: Partial<Outcome>): Partial<Outcome> => ({ hooks, ...more })

export const differences: ReadonlyArray<Difference> = [
  {
    line: "A `deny` rule for a file does not see it behind a glob, or in a folder that a command searches.",
    settings: { "deny Read(./*.txt) at the command cat *.txt > /dev/null; note one": refused() }
  },
  {
    line: "A pattern of a matcher is JavaScript.",
    settings: {
      "matcher \"(?i)bash\" at a call of Bash": runs([0], refused("w-stderr"))
    }
  },
  {
    line: "An answer with a field of a wrong type does not count.",
    settings: { "PreToolUse answers: deny beside a field of a wrong type": refused("w-reason") }
  },
  {
    line: "A decision without `hookEventName` does not count.",
    settings: { "PreToolUse answers: deny of no event": refused() }
  },
  {
    line: "`continue: false` at `PreToolUse` lets that tool run, and then ends the turn.",
    settings: {
      "PreToolUse answers: the end of the turn": { ran: [] },
      "PreToolUse answers: the end of the turn and allow": { ran: [] },
      "two entries: nothing and the end of the turn": { ran: [] },
      "two entries: code 1 and the end of the turn": { ran: [] },
      "two entries: allow and the end of the turn": { ran: [] },
      "two entries: ask and the end of the turn": { read: [], requests: 1 },
      "two entries: context and the end of the turn": { ran: [] },
      "two entries: new input and the end of the turn": { ran: [] }
    }
  },
  {
    line: "`defer` ends a program that nobody watches.",
    settings: { "PreToolUse answers: defer": { requests: 2, read: ["w-reason"] } }
  },
  {
    line: "An `updatedToolOutput` in another shape than that of the tool is ignored.",
    settings: { "a new result of Read that is a text": { read: ["w-new"] } }
  },
  {
    line: "`PermissionRequest` runs when a rule of `permissions.ask` asks.",
    settings: { "a rule asks, so PermissionRequest runs": runs([], refused()) }
  },
  {
    line: "If nobody is there, `PermissionRequest` does not run when `PreToolUse` asks.",
    settings: {
      "PreToolUse asks, and PermissionRequest allows": runs([0, 1], { ran: ["note one"], read: ["w-ran-one"] })
    }
  },
  {
    line: "A rule `Edit` without a path is not for `Write`.",
    settings: {
      "deny Edit at Write: new.txt, text": refused(),
      "ask Edit at Write: new.txt, text": refused()
    }
  },
  {
    line: "A rule of `permissions.ask` does not ask about agents that may be called.",
    settings: { "ask Agent(general-purpose) at Agent: look, look around, general-purpose": refused() }
  },
  {
    line: "Of a call that one entry denies and another ends with code 2, the model reads the second reason.",
    settings: { "two entries: deny and code 2": refused("w-reason", "w-stderr") }
  },
  {
    line: "A sub-agent runs in the background, and the agent goes on when it has ended.",
    settings: { "Stop in a session with a sub-agent": { hooks: [0, 1, 2] } }
  }
]

/** What Belay does in place of what Claude Code does, by the name of the setting. */
export const inBelay: ReadonlyMap<string, Partial<Outcome>> = new Map(
  differences.flatMap(({ settings }) => Object.entries(settings))
)
