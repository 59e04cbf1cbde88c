/** Shows two texts as a difference, line by line. */

/** A line that both have, or only one of them. */
interface Line {
  readonly mark: " " | "+" | "-"
  readonly text: string
}

/** Longer parts without a common line are shown as removed and added. */
const maxCells = 250_000

/** The lines before and after a change. */
const context = 2

const linesOf = (text: string): ReadonlyArray<string> => text === "" ? [] : text.replace(/\n$/, "").split("\n")

/** The changed lines with those around them, at most `most`. */
export const difference = (before: string, after: string, most = 40): ReadonlyArray<string> => {
  const all = compared(linesOf(before), linesOf(after))
  const isNear = (index: number) =>
    all.slice(Math.max(0, index - context), index + context + 1).some(({ mark }) => mark !== " ")
  const shown = all.flatMap(({ mark, text }, index) =>
    isNear(index)
      ? [...(index > 0 && !isNear(index - 1) ? ["…"] : []), `${mark} ${text}`]
      : []
  )
  return shown.length <= most ? shown : [...shown.slice(0, most), `… ${shown.length - most} more lines`]
}

const compared = (before: ReadonlyArray<string>, after: ReadonlyArray<string>): ReadonlyArray<Line> => {
  let start = 0
  while (start < before.length && start < after.length && before[start] === after[start]) start++
  let end = 0
  while (
    end < before.length - start && end < after.length - start && before.at(-1 - end) === after.at(-1 - end)
  ) end++
  return [
    ...before.slice(0, start).map((text): Line => ({ mark: " ", text })),
    ...middle(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...before.slice(before.length - end).map((text): Line => ({ mark: " ", text }))
  ]
}

const middle = (before: ReadonlyArray<string>, after: ReadonlyArray<string>): ReadonlyArray<Line> => {
  const removed = (text: string): Line => ({ mark: "-", text })
  const added = (text: string): Line => ({ mark: "+", text })
  if (before.length * after.length > maxCells) return [...before.map(removed), ...after.map(added)]
  const width = after.length + 1
  /** How many lines the rests of both have in common. */
  const common = new Uint16Array((before.length + 1) * width)
  for (let i = before.length - 1; i >= 0; i--) {
    for (let j = after.length - 1; j >= 0; j--) {
      common[i * width + j] = before[i] === after[j]
        ? common[(i + 1) * width + j + 1]! + 1
        : Math.max(common[(i + 1) * width + j]!, common[i * width + j + 1]!)
    }
  }
  const lines: Array<Line> = []
  let [i, j] = [0, 0]
  while (i < before.length || j < after.length) {
    if (i < before.length && j < after.length && before[i] === after[j]) {
      lines.push({ mark: " ", text: before[i]! })
      i++
      j++
    } else if (j >= after.length || (i < before.length && common[(i + 1) * width + j]! >= common[i * width + j + 1]!)) {
      lines.push(removed(before[i++]!))
    } else lines.push(added(after[j++]!))
  }
  return lines
}
