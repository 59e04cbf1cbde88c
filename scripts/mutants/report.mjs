// What maintainers read: the bugs that no test noticed, and the score.

/** The bugs that survived, and those that are accepted, with the reason. */
export const survivors = (results) =>
  results
    .filter(({ outcome }) => outcome === "survived" || outcome === "accepted")
    .map(({ mutation: { after, before, file, kind, line }, outcome, reason, tests }) =>
      [
        `${outcome === "accepted" ? "accepted" : "survived"} ${file}:${line} (${kind}, ${tests} test files)`,
        `  - ${before}`,
        `  + ${after}`,
        ...(reason === undefined ? [] : [`  ${reason}`])
      ].join("\n")
    )
    .join("\n")

/** The bugs that were noticed, and by what. */
export const killed = (results) =>
  results
    .filter(({ outcome }) => outcome === "killed")
    .map(({ by, mutation: { after, before, file, kind, line } }) =>
      `killed ${file}:${line} (${kind})\n  - ${before}\n  + ${after}\n  by: ${by}`
    )
    .join("\n")

const rowsOf = (results, scopeOf) => {
  const groups = Map.groupBy(results, ({ mutation }) => scopeOf(mutation.file))
  return [...groups, ["all", results]].map(([name, group]) => {
    const count = (wanted) => group.filter(({ outcome }) => outcome === wanted).length
    const [killed, survived, accepted] = [count("killed"), count("survived"), count("accepted")]
    const score = killed + survived === 0 ? "" : `${(100 * killed / (killed + survived)).toFixed(1)} %`
    return [name, killed + survived + accepted, killed, survived, accepted, score]
  })
}

const head = ["folder", "planted", "killed", "survived", "accepted", "score"]

export const table = (results, scopeOf) =>
  [head, ...rowsOf(results, scopeOf)]
    .map(([name, ...rest]) => name.padEnd(18) + rest.map((cell) => String(cell).padStart(10)).join(""))
    .join("\n")

export const markdown = (results, scopeOf) =>
  [head, head.map((_, at) => at === 0 ? "---" : "---:"), ...rowsOf(results, scopeOf)]
    .map((cells) => `| ${cells.join(" | ")} |`)
    .join("\n")
