/** `belay hooks explain`: what an event is, in every system that has it. */
import type { Dialect } from "@belay/hook-files/Discovery"
import { type Event, type Guide, points, spelt } from "@belay/hook-files/Guide"
import { guideOf, guides, named } from "../guides.ts"
import { plain, type Screen, styleOf, wrap } from "../screen.ts"

/** Events of other systems that happen at the same moment count too. */
export const found = (name: string, dialects: ReadonlyArray<Dialect>): ReadonlyArray<Event> => {
  const own = named(name)
  const occasions = new Set(own.map(({ occasion }) => occasion))
  const kin = guides.flatMap(({ events }) => events).filter((event) =>
    occasions.has(event.occasion) &&
    (event.occasion !== "signal" || own.some((one) => spelt(one.name) === spelt(event.name)))
  )
  const all = dialects.length === 0 ? kin : kin.filter(({ dialect }) => dialects.includes(dialect))
  return [...all].sort((a, b) => Number(own.includes(b)) - Number(own.includes(a)))
}

export const json = (events: ReadonlyArray<Event>): unknown =>
  events.map((event) => {
    const system = guideOf(event.dialect)!
    return {
      ...event,
      point: points[event.occasion],
      input: [...system.input, ...event.fields],
      exitCodes: Object.fromEntries(codesOf(event, system)),
      answers: Object.fromEntries([...event.answers, ...system.answers]),
      example: system.example(event),
      script: system.script(event)
    }
  })

/** Exit codes, the event's own 2 among them. */
const codesOf = (event: Event, { codes }: Guide): ReadonlyArray<readonly [string, string]> =>
  codes.map(([code, meaning]) => code === "2" ? [code, event.two] as const : [code, meaning] as const)

export const text = (events: ReadonlyArray<Event>, screen: Screen): string => {
  const style = styleOf(screen)
  return events.map((event) => {
    const system = guideOf(event.dialect)!
    const row = (name: string, value: string) =>
      `  ${style.dim(name.padEnd(9))} ${wrap(value, "            ", screen.columns).trimStart()}`
    const table = (rows: ReadonlyArray<readonly [string, string]>) =>
      rows.map(([left, right]) =>
        rows.every(([one]) => one.length <= 20)
          ? `    ${style.cyan(left.padEnd(20))} ${wrap(right, " ".repeat(25), screen.columns).trimStart()}`
          : `    ${style.cyan(left)}\n${wrap(right, "        ", screen.columns)}`
      )
    return [
      `${style.bold(`${event.name}`)}  ${style.dim(system.name)}`,
      row("when", event.when),
      row("point", points[event.occasion]),
      row("may", event.may ?? "only watch"),
      ...(event.matcher === undefined
        ? []
        : [row("matcher", `${event.matcher}${event.values === undefined ? "" : `: ${event.values.join(", ")}`}`)]),
      row("files", system.files),
      row("input", [...event.fields, ...system.input].join(", ")),
      "",
      "  Exit codes",
      ...table(codesOf(event, system)),
      ...(event.answers.length + system.answers.length === 0
        ? []
        : ["", "  Answers", ...table([...event.answers, ...system.answers])]),
      "",
      "  In a file",
      ...system.example(event).split("\n").map((line) => `    ${line}`),
      "",
      "  A script",
      ...system.script(event).trimEnd().split("\n").map((line) => `    ${plain(line)}`)
    ].join("\n")
  }).join("\n\n")
}

/** Every event, a line each. */
export const index = (dialects: ReadonlyArray<Dialect>, screen: Screen): string => {
  const style = styleOf(screen)
  return guides.filter(({ dialect }) => dialects.length === 0 || dialects.includes(dialect)).map(({ events, name }) =>
    [
      style.bold(name),
      ...events.map(({ may, name: event, occasion }) =>
        `  ${style.cyan(event.padEnd(22))} ${points[occasion].padEnd(34)} ${
          style.dim(may === undefined ? "" : `may ${may}`)
        }`.trimEnd()
      )
    ].join("\n")
  ).join("\n\n")
}

/** The same as a page of the site. */
export const page = (): string => {
  const cell = (text: string) => text.replaceAll("|", "\\|")
  const table = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>) =>
    [head, head.map(() => "---"), ...rows].map((row) => `| ${row.map(cell).join(" | ")} |`).join("\n")
  const code = (text: string) => text === "" ? "" : `\`${text}\``
  const pages = guides.map((system) =>
    [
      `## ${system.name}`,
      `Files: ${system.files}. Input of each event: ${system.input.join(", ")}.`,
      table(["exit code", "means"], system.codes),
      table(
        ["event", "point", "matcher", "may", "exit code 2", "more input"],
        system.events.map(({ fields, matcher = "", may = "only watch", name, occasion, two }) => [
          code(name),
          points[occasion],
          code(matcher),
          may,
          two,
          fields.map(code).join(" ")
        ])
      ),
      table(
        ["event", "answer", "means"],
        [
          ...system.answers.map(([answer, meaning]) => ["every", code(answer), meaning]),
          ...system.events.flatMap(({ answers, name }) =>
            answers.map(([answer, meaning]) => [code(name), code(answer), meaning])
          )
        ]
      )
    ].join("\n\n")
  )
  return [
    "# Events of hook files",
    "The events of every system, the input of scripts and their answers. " +
    "`belay hooks explain` prints the same with an example of each event.",
    ...pages
  ].join("\n\n") + "\n"
}
