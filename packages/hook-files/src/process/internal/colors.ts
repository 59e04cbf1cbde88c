/** Removes colours from the output of commands, because models read it and Belay parses it as JSON. */

/** Colours and styles, and how `tput sgr0` ends them. */
// oxlint-disable-next-line no-control-regex -- control sequences are what this is about
const color = /\u001B(?:\[[\d;]*m\u000F?|\(B)/g

export const withoutColors = (text: string): string => text.includes("\u001B") ? text.replaceAll(color, "") : text
