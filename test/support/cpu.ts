/** A clock that other programs on the machine do not move. */

/** The CPU time of this thread in milliseconds, or of the process where Node has no time of a thread. */
export const cpuMs = (): number => {
  const { system, user } = process.threadCpuUsage?.() ?? process.cpuUsage()
  return (user + system) / 1_000
}

/** The CPU time of `run`, in milliseconds: the least of up to three runs, since one may meet a collection or a cold cache. */
export const leastCpuMs = async (limitMs: number, run: () => Promise<void>): Promise<number> => {
  let least = Infinity
  for (let runs = 0; runs < 3 && least >= limitMs; runs++) {
    const before = cpuMs()
    await run()
    least = Math.min(least, cpuMs() - before)
  }
  return least
}
