/** `belay guard doctor`: what is wired, what the config can do, and what gets around a guard all the same. */
import type { JsonObject } from "@belay/core/Json"
import * as CoverageCheck from "@belay/guard/CoverageCheck"
import * as Guard from "@belay/guard/Guard"
import { all, type Wire } from "@belay/hook-files/Wires"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { spawnSync } from "node:child_process"
import { exitWith, print } from "../flags.ts"
import { plain, type Screen, styleOf } from "../screen.ts"
import { type Here, hereOf, shared, systems, wireOf } from "./places.ts"
import { trustedConfig } from "./run/find.ts"
import { loadConfig } from "./run/loadConfig.ts"
import { driverOf } from "./run/reach.ts"
import { messageOf } from "./run/refusal.ts"
import { withTools } from "./run/tools.ts"
import { withinUntil } from "./run/within.ts"
import { payloadOf } from "./sample.ts"
import { type Finding, gapsIn, switches, twice, wiredIn } from "./wiring.ts"

/** What is known about one system. */
interface Report {
  readonly system: string
  readonly findings: ReadonlyArray<Finding>
  /** What the hooks can do, by point. */
  readonly coverage: ReadonlyArray<string>
  readonly holes: Wire["holes"]
}

export const doctor = (screen: Screen) =>
  Command.make("doctor", {
    system: Argument.Literals("system", systems).pipe(
      Argument.withDescription("Only this system. Default: those that are wired"),
      Argument.optional
    ),
    ...shared
  }, (given) =>
    Effect.gen(function*() {
      const here = yield* hereOf(given)
      const chosen = Option.isSome(given.system)
        ? [wireOf(given.system.value)]
        : all.filter((wire) => wiredIn(wire, here).length > 0)
      const reports = yield* Effect.forEach(chosen, (wire) => Effect.promise(() => examine(wire, here)))
      yield* print(given.json, () => reports, () => shown(reports, screen))
      const isGood = reports.length > 0 &&
        reports.every(({ findings }) => findings.every(({ level }) => level !== "error"))
      yield* exitWith(isGood ? 0 : 1)
    })).pipe(
      Command.withDescription(
        "Plays a harmless payload through every wired event, and lists what gets around a guard. Exit code 1 for errors"
      )
    )

const examine = async (wire: Wire, here: Here): Promise<Report> => {
  const wired = wiredIn(wire, here)
  const config = await configOf(wire, here)
  const findings: Array<Finding> = [
    ...config.findings,
    ...switches(wire, here),
    ...twice(wire, wired),
    ...wired.flatMap((one) => gapsIn(wire, one)),
    ...wired.flatMap(({ events }) => [...events].map(([event, { line }]) => play(wire, event, line, here))),
    ...(wired.length === 0
      ? [{ level: "error" as const, text: `nothing is wired: run \`belay guard install ${wire.system}\`` }]
      : []),
    ...(wire.proof === "documentation"
      ? [{
        level: "warning" as const,
        text: "its payloads were read in its documentation, and not tried with the program"
      }]
      : [])
  ]
  return { system: wire.system, findings, coverage: config.coverage, holes: wire.holes }
}

/** Whether the config runs, and what its hooks can do in the system. */
const configOf = async (wire: Wire, { cwd, places }: Here): Promise<Pick<Report, "findings" | "coverage">> => {
  const attempt = async () => {
    const covered = trustedConfig(undefined, cwd, places)
    const { guard: options } = await loadConfig(covered, withinUntil(performance.now() + 10_000))
    const guard = Guard.make({ log: false, ...options, tools: withTools(options.tools) })
    const driver = driverOf(wire)
    const coverage = guard.coverage(driver).filter(({ hooks }) => hooks.length > 0)
      .map(({ hooks, place, reach }) => `${place}: ${reach} (${hooks.join(", ")})`)
    const checked = Result.try({ try: () => CoverageCheck.check(guard, driver), catch: messageOf })
    const finding: Finding = Result.isSuccess(checked)
      ? { level: "ok", text: `${covered.path} is trusted and runs` }
      : { level: "error", text: checked.failure }
    return { findings: [finding], coverage }
  }
  return await attempt().catch((error: unknown) => ({
    findings: [{ level: "error" as const, text: messageOf(error) }],
    coverage: []
  }))
}

/** Runs a line as the system does, with a payload that does nothing. */
const play = (wire: Wire, event: string, line: string, { cwd, places }: Here): Finding => {
  // Settings can also call the guard at events that it does not know.
  const row = Object.hasOwn(wire.events, event) ? wire.events[event] : undefined
  if (row === undefined) {
    return { level: "error", text: `${event}: the guard does not know this event: remove its line` }
  }
  const name = row.call?.name.split("__")[0] ?? "Read"
  const payload = payloadOf(wire, event, {
    session: "belay-doctor",
    cwd,
    call: { id: `doctor-${process.pid}`, name, args: harmless[name] ?? {} },
    output: "",
    prompt: "This is a test of the guard."
  })
  const { status, stderr, stdout } = spawnSync("sh", ["-c", line], {
    cwd,
    input: JSON.stringify(payload),
    encoding: "utf8",
    timeout: 30_000,
    // oxlint-disable-next-line node/no-process-env -- the command of an entry is found by the user's own path
    env: { ...process.env, HOME: places.home }
  })
  const said = plain((stderr.trim() || stdout.trim()).slice(0, 300))
  if (status === 0 && isJson(stdout)) {
    return { level: "ok", text: `${event}: answers${stdout.trim() === "{}" ? "" : ` ${said}`}` }
  }
  return { level: "error", text: `${event}: ends with ${status ?? "a signal"}: ${said || "it says nothing"}` }
}

/** Arguments with which a tool would do nothing. */
const harmless: { readonly [tool: string]: JsonObject } = {
  Read: { file_path: "README.md" },
  Write: { file_path: "README.md", content: "" },
  Edit: { file_path: "README.md", old_string: "", new_string: "" },
  MultiEdit: { file_path: "README.md", edits: [] },
  Bash: { command: "true" }
}

const isJson = (text: string): boolean =>
  Result.getOrElse(Result.try(() => typeof JSON.parse(text) === "object"), () => false)

const shown = (reports: ReadonlyArray<Report>, screen: Screen): string => {
  const { bold, dim, green, red, yellow } = styleOf(screen)
  if (reports.length === 0) return `No system is wired: run \`belay guard install <system>\` (${systems.join(", ")}).`
  const marks = { ok: green("ok      "), warning: yellow("warning "), error: red("error   ") }
  return reports.map(({ coverage, findings, holes, system }) =>
    [
      bold(wireOf(system).name),
      ...findings.map(({ level, text }) => `  ${marks[level]} ${plain(text)}`),
      ...(coverage.length === 0 ? [] : ["  What the hooks can do:", ...coverage.map((line) => `    ${plain(line)}`)]),
      "  What gets around every guard in it:",
      ...holes.map(({ source, what }) => `    ${what} ${dim(`(${source})`)}`)
    ].join("\n")
  ).join("\n\n")
}
