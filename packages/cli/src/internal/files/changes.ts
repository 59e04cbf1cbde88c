/** Shows what changed in a project since a person trusted it. */
import type { Change } from "@belay/hook-files/Trust"
import { difference } from "../difference.ts"
import { count, plain, type Screen, styleOf } from "../screen.ts"
import { short, type World } from "../world.ts"

const words: { readonly [Kind in Change["kind"]]: string } = {
  new: "new",
  changed: "changed",
  removed: "removed",
  mode: "other execute bits",
  link: "leads to another file"
}

/** Nothing if nobody has trusted the project, and if it is trusted. */
export const changesOf = ({ untrusted }: World): ReadonlyArray<Change> | undefined => {
  const all = untrusted.map((one) => one.changes())
  return all.some((changes) => changes !== undefined) ? all.flatMap((changes) => changes ?? []) : undefined
}

/** Installed packages have thousands of files. */
const maxFiles = 20

/** One line for each file. With `differences`, also the lines that changed. */
export const changeLines = (
  changes: ReadonlyArray<Change>,
  { where }: { readonly where: Parameters<typeof short>[1] },
  screen: Screen,
  differences: boolean
): ReadonlyArray<string> => {
  const style = styleOf(screen)
  const paint = (line: string) =>
    line.startsWith("+") ? style.green(line) : line.startsWith("-") ? style.red(line) : line
  return [
    ...changes.slice(0, maxFiles).flatMap((change) => [
      `  ${style.yellow(words[change.kind])}  ${plain(short(change.path, where))}`,
      ...(differences ? linesOf(change).map((line) => `    ${paint(plain(line))}`) : [])
    ]),
    ...(changes.length > maxFiles ? [`  and ${count(changes.length - maxFiles, "more file")}`] : [])
  ]
}

/** A new file is shown elsewhere, with all others that would run. */
const linesOf = ({ after, before, kind }: Change): ReadonlyArray<string> =>
  kind === "changed" && before !== undefined && after !== undefined ? difference(before, after) : []

/** The files with their differences. */
export const json = (changes: ReadonlyArray<Change>): unknown =>
  changes.map((change) => {
    const lines = linesOf(change)
    return {
      path: change.path,
      kind: change.kind,
      ...(lines.length === 0 ? {} : { difference: lines })
    }
  })
