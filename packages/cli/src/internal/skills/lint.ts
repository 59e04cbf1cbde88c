/** Finds in the files of a skill what a person should know before trusting it. */
import type { Skill, SkillFile } from "@belay/hook-files/SkillFiles"
import type { Level } from "../lint/finding.ts"

/** Something to know about a skill. */
export interface SkillFinding {
  readonly level: Level
  /** The name of the rule. */
  readonly rule: "asks" | "hidden" | "comment" | "orders" | "network" | "files" | "secrets" | "size"
  /** The path in the folder of the skill. */
  readonly file: string
  readonly line?: number
  readonly what: string
}

/** Returns the findings about a skill, errors first. */
export const lintSkill = (skill: Skill, files: ReadonlyArray<SkillFile>): ReadonlyArray<SkillFinding> => {
  const found = [
    ...asks(skill),
    ...files.flatMap(aboutFile),
    ...files.flatMap(({ path, text }) => text === undefined ? [] : inText(path, text))
  ]
  const order: ReadonlyArray<Level> = ["error", "warning", "hint"]
  return found.toSorted((a, b) => order.indexOf(a.level) - order.indexOf(b.level))
}

/** What the skill may do while it is in use. */
const asks = ({ allowedTools }: Skill): ReadonlyArray<SkillFinding> => {
  const say = (level: Level, what: string): SkillFinding => ({ level, rule: "asks", file: "SKILL.md", what })
  if (allowedTools === undefined) {
    return [say("warning", "declares no allowed-tools, so nothing is restricted while it is in use")]
  }
  if (allowedTools.length === 0) return [say("hint", "declares that it needs no tool")]
  const tooWide = allowedTools.filter((rule) => /^(?:\*|exec|network|write|Bash|Write|Edit|WebFetch)$/.test(bare(rule)))
  return [
    say("hint", `asks for ${allowedTools.join(", ")}`),
    ...allowedTools.filter((rule) => runsOthers.test(rule)).map((rule) =>
      say("warning", `asks for ${rule}, which covers no call: name the script or the program that is run`)
    ),
    ...tooWide.map((rule) => say("warning", `asks for ${rule} without a limit`))
  ]
}

/** A rule with a star about a program that runs other programs. Permission rules never cover such a call. */
const runsOthers = /^Bash\((?:(?:ba|z|da|k)?sh|npx|pnpx|bunx|uvx|uv run|xargs|env|sudo|time|nohup|nice)[ :].*\*\)$/

const bare = (rule: string): string => rule.replace(/\((?:\*+|:\*)\)$/, "")

const aboutFile = ({ path, state, text }: SkillFile): ReadonlyArray<SkillFinding> => {
  const say = (level: Level, what: string): SkillFinding => ({ level, rule: "files", file: path, what })
  if (state.startsWith("link out")) return [say("error", "is a link that leads out of the folder of the skill")]
  if (state.startsWith("link")) return [say("warning", "is a link")]
  if (state === "not a regular file") return [say("error", "is a pipe, a socket or a device")]
  if (text !== undefined) return []
  return [say("warning", "is too large to check, or is not a text")]
}

interface Pattern {
  readonly level: Level
  readonly rule: SkillFinding["rule"]
  readonly what: string
  readonly test: RegExp
}

const patterns: ReadonlyArray<Pattern> = [
  {
    level: "error",
    rule: "hidden",
    what: "has invisible characters, which a model reads and a person does not see",
    test: /[\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\u00ad\u{e0020}-\u{e007f}]|(?!^)\ufeff/u
  },
  {
    level: "warning",
    rule: "comment",
    what: "has an HTML comment, which is not shown where Markdown is rendered",
    test: /<!--/
  },
  {
    level: "error",
    rule: "orders",
    what: "tells the model to hide something from the user, or to act without asking",
    test: new RegExp(
      String.raw`\b(?:(?:do not|don't|never|without) (?:tell|telling|inform|informing|mention|mentioning|show|` +
        "showing|ask|asking|notify|notifying)(?: it to| this to)?(?: the)? (?:user|person|anyone|anybody|" +
        String.raw`human|permission|confirmation|approval)|secretly|silently (?:run|send|execute|delete|install))\b`,
      "i"
    )
  },
  {
    level: "error",
    rule: "orders",
    what: "tells the model to ignore other instructions or a guard",
    test: new RegExp(
      String.raw`\b(?:ignore|disregard|forget|override|bypass|disable|skip|turn off|` +
        String.raw`circumvent) (?:\w+ ){0,3}(?:instructions|rules|guidelines|restrictions|guards?|guardrails|hooks?|` +
        String.raw`approvals?|permissions?|safety|sandbox|allowed-tools|policy|policies)\b`,
      "i"
    )
  },
  {
    level: "warning",
    rule: "orders",
    what: "tells the model to use another skill",
    test: /\b(?:load_skill|(?:load|use|activate|invoke) (?:the )?(?:other |another )?skill)\b/i
  },
  {
    level: "error",
    rule: "network",
    what: "runs what it downloads",
    test: /\b(?:curl|wget)\b[^\n|]*\|\s*(?:sudo\s+)?(?:ba|z|da)?sh\b/
  },
  {
    level: "warning",
    rule: "network",
    what: "uses the network",
    test: new RegExp(
      String.raw`\b(?:curl|wget|ncat|netcat|scp|sftp|ssh|rsync|telnet)\s+[-\w$"'/]|\bhttps?:\/\/|\bfetch\(|` +
        String.raw`\brequests\.\w+\(|\burllib\b|\bsocket\.\w|\/dev\/(?:tcp|udp)\/|\baxios\b|\bhttp\.client\b`
    )
  },
  {
    level: "warning",
    rule: "secrets",
    what: "reads keys or variables of the environment",
    test: new RegExp(
      String.raw`\.ssh\/|\.aws\/|id_(?:rsa|ed25519)\b|(?:^|[\s"'/=])\.env\b|\bprintenv\b|os\.environ\b|` +
        String.raw`process\.env\b|\.netrc\b|\bkeychain\b`,
      "i"
    )
  }
]

const maxLine = 20_000

/** One finding of each pattern, at its first line. */
const inText = (path: string, text: string): ReadonlyArray<SkillFinding> => {
  const lines = text.split(/\r?\n/)
  const found = patterns.flatMap(({ level, rule, test, what }): ReadonlyArray<SkillFinding> => {
    const index = lines.findIndex((line) => test.test(line.slice(0, maxLine)))
    return index < 0 ? [] : [{ level, rule, file: path, line: index + 1, what }]
  })
  const long = lines.findIndex((line) => line.length > maxLine)
  return long < 0
    ? found
    : [...found, {
      level: "warning",
      rule: "size",
      file: path,
      line: long + 1,
      what: "has a line that is too long to check"
    }]
}
