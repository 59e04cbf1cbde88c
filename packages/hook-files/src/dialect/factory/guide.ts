/** Describes the events of Factory's Droid. */
import type { Event, Guide } from "../../engine/Guide.ts"
import { claude, example, script } from "../claude/guide.ts"
import { events as names } from "./Factory.ts"

const different: { readonly [name: string]: Partial<Event> } = {
  PreCompact: { two: "the user reads standard error", answers: [] }
}

/** Droid cannot stop a compaction. */
const withoutMay = ({ may: _may, ...event }: Event): Event => event

const events = claude.events.filter(({ name }) => (names as ReadonlyArray<string>).includes(name)).map((
  event
): Event => ({
  ...(event.name === "PreCompact" ? withoutMay(event) : event),
  ...different[event.name],
  dialect: "factory"
}))

export const factory: Guide = {
  dialect: "factory",
  name: "Factory Droid",
  files: "~/.factory/hooks.json, ~/.factory/settings.json, .factory/hooks.json, .factory/settings.json",
  input: ["sessionId", "transcriptPath", "cwd", "permissionMode", "hookEventName", "the same fields in snake case"],
  codes: [
    ["0", "success; standard output that begins with { is read as JSON"],
    ["2", "blocks if the event can be blocked; standard error is the reason"],
    ["another", "valid JSON decides; without JSON it is an error that does not block"],
    ["timeout, signal", "no decision, a warning"]
  ],
  answers: claude.answers,
  timeout: 60,
  keys: ["type", "command", "timeout"],
  groupKeys: ["matcher", "hooks", "description"],
  events,
  example: (event) =>
    example(event, `"$FACTORY_PROJECT_DIR"/.factory/hooks/${event.name}.py`).replace("\"Bash\"", "\"Execute\""),
  script
}
