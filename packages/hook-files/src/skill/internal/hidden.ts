/** Invisible characters: a person does not see them, and a model reads them. */

/** Control characters except line ends, zero-width characters, marks that change the direction of text, and tags. */
const hidden = new RegExp(
  "[\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5" +
    "\\u180b-\\u180f\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff9-\\ufffb" +
    "\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}]",
  "gu"
)

/** Emoji are made of several characters with joiners and selectors between them. */
const emoji = new RegExp(
  "\\p{Extended_Pictographic}(?:\\p{Emoji_Modifier}|\\ufe0f|\\u200d\\p{Extended_Pictographic})*",
  "gu"
)

/** Returns a text without its invisible characters. Emoji stay whole. */
export const withoutHidden = (text: string): string => {
  const whole = [...text.matchAll(emoji)].map((found) => [found.index, found.index + found[0].length] as const)
  let next = 0
  return text.replaceAll(hidden, (character, at: number) => {
    while (next < whole.length && whole[next]![1] <= at) next++
    return next < whole.length && whole[next]![0] <= at ? character : ""
  })
}
