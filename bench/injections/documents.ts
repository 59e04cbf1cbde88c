/** Long harmless documents, made of sentences and of the short harmless texts by a generator with a seed. */
import { acts, benign, ends, objects, subjects } from "./benign.ts"

/** A generator of whole numbers below a bound, always the same ones for a seed. */
const generator = (seed: number) => {
  let state = seed
  return (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor(state / 2 ** 32 * below)
  }
}

const layouts: ReadonlyArray<(text: string, index: number) => string> = [
  (text) => `${text}\n\n`,
  (text) => `- ${text}\n`,
  (text, index) => `${index + 1}. ${text}\n`,
  (text, index) => `2026-04-0${index % 9 + 1} 08:${10 + index % 50} ${text}\n`,
  (text) => `> ${text}\n`,
  (text, index) => `${index % 2 === 0 ? "Ada" : "Bob"}: ${text}\n`,
  (text) => `<p>${text}</p>\n`,
  (text, index) => index % 8 === 0 ? `## ${text}\n\n` : `${text} `
]

const upper = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

/** Makes documents of 5 to 50 KB. Each has up to six of the short texts in it. */
export const documents = (count: number): ReadonlyArray<string> =>
  Array.from({ length: count }, (_, number) => {
    const below = generator(number + 1)
    const one = (list: ReadonlyArray<string>) => list[below(list.length)]!
    const length = 5_000 + below(45_000)
    const layout = layouts[number % layouts.length]!
    const places = new Set(Array.from({ length: below(7) }, () => below(40)))
    let text = ""
    for (let index = 0; text.length < length; index++) {
      const sentences = Array.from(
        { length: 1 + below(4) },
        () => `${upper(one(subjects))} ${one(acts)} ${one(objects)} ${one(ends)}.`
      )
      text += layout(places.has(index) ? one(benign) : sentences.join(" "), index)
    }
    return text
  })
