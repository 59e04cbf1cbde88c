/** A clock that other programs on the machine do not move. */

/** The CPU time of this thread in milliseconds, or of the process where Node has no time of a thread. */
export const cpuMs = (): number => {
  const { system, user } = process.threadCpuUsage?.() ?? process.cpuUsage()
  return (user + system) / 1_000
}
