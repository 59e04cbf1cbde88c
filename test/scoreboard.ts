/** What was tried to break the project, how often, and how often it worked. */

/** A row of the table. */
export interface Row {
  readonly what: string
  readonly tried: number
  readonly failed: number
  /** The test, from the root of the repository. */
  readonly test: string
}

export const page = "docs/reliability.md"

const intro = `# Reliability

What was tried to break Belay. The numbers come from a run of \`npm run test:long -- scoreboard\`, which writes this page; it fails if a number in the third column is not 0. The same seed gives the same page.

| what was tried | number tried | failed | test |
| --- | --: | --: | --- |
`

/**
 * The page as Markdown. It has no times, so that it changes only with what is tried. The section about attacks, which
 * `npm run bench:attacks` writes, stays as it is in `before`.
 */
export const render = (rows: ReadonlyArray<Row>, before = ""): string =>
  `${intro}${
    rows.map(({ failed, test, tried, what }) =>
      `| ${what} | ${tried.toLocaleString("en")} | ${failed} | [${
        test.split("/").at(-1)!.replace(/\..*$/, "")
      }](../${test}) |`
    ).join("\n")
  }\n${before.slice(Math.max(before.indexOf("\n## Attacks on agents"), 0) || before.length)}`

/** Reads the table of a page. */
export const read = (text: string): ReadonlyArray<Row> =>
  [...text.matchAll(/^\| ([^|]+) \| ([\d,]+) \| (\d+) \| \[[^\]]+\]\(\.\.\/([^)]+)\) \|$/gm)].map((
    [, what = "", tried = "", failed = "", test = ""]
  ) => ({ what, tried: Number(tried.replaceAll(",", "")), failed: Number(failed), test }))
