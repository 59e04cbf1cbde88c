/** What commands know of a system, in short lines. */
import type { Event, Guide } from "@belay/hook-files/Guide"

/** What distinguishes the examples of scripts. */
const marks: ReadonlyArray<readonly [RegExp, string]> = [
  [/git push/, "no push"],
  [/secret/, "no secret"],
  [/password/, "no password"],
  [/done|tests fail|npm test/, "goes on"],
  [/[Ss]omething that the model should know/, "context"],
  [/\.log/, "log"]
]

const mark = (script: string): string => marks.find(([pattern]) => pattern.test(script))?.[1] ?? "other"

const lineOf = ({ script }: Guide, event: Event): string => {
  const { matcher, name, others = [], tool, values } = event
  return [
    [name, ...others].join(" or "),
    ...(matcher === undefined ? [] : [`by ${matcher}${values === undefined ? "" : ` ${values.join("|")}`}`]),
    ...(tool === undefined ? [] : [`of ${tool}`]),
    mark(script(event))
  ].join(", ")
}

/** The different examples of files, by their plain values, with the events that have each. */
const examples = ({ events, example }: Guide): ReadonlyArray<string> => {
  const text = (event: Event) => {
    const file = example(event).replaceAll(event.name, "EVENT")
    const values = [...file.matchAll(/"(\w+)": ("(?:\\.|[^"\\])*"|\d+|true)/g)].map(([, key, value]) =>
      `${key}=${value}`
    )
    return values.length === 0 ? file : values.join(" ").replaceAll(/[\\"]/g, "")
  }
  return [...Map.groupBy(events, text)].map(([one, of]) =>
    `${of.length > 3 ? `${of.length} events` : of.map(({ name }) => name).join(" ")}: ${one}`
  )
}

export const factsOf = (guide: Guide): ReadonlyArray<string> => [
  `${guide.timeout} s; ${guide.keys.join(" ")}; ${guide.groupKeys.join(" ")}`,
  ...examples(guide),
  ...guide.events.map((event) => lineOf(guide, event))
]
