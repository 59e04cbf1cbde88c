/**
 * Measures by interleaved rounds: every contender runs in every round, so that a busy machine is busy for all. Reports
 * medians of CPU time.
 */

export interface Contender {
  readonly name: string
  /** Runs the work `times` times. */
  readonly run: (times: number) => void | Promise<void>
  /** Runs before each round, and is not measured. */
  readonly before?: () => void
}

export interface Figure {
  readonly name: string
  /** Microseconds of CPU and of wall time, per piece of work. */
  readonly cpu: number
  readonly wall: number
}

const median = (values: ReadonlyArray<number>): number => {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[sorted.length >> 1]!
}

/** Returns one figure a contender, in the order given. */
export const measure = async (
  contenders: ReadonlyArray<Contender>,
  times: number,
  rounds = 15
): Promise<ReadonlyArray<Figure>> => {
  for (const { run } of contenders) await run(Math.max(1, times >> 1))
  const samples = contenders.map(() => ({ cpu: [] as Array<number>, wall: [] as Array<number> }))
  for (let round = 0; round < rounds; round++) {
    for (const [index, { before, run }] of contenders.entries()) {
      before?.()
      const cpu = process.cpuUsage()
      const began = performance.now()
      await run(times)
      const wall = performance.now() - began
      const { system, user } = process.cpuUsage(cpu)
      samples[index]!.cpu.push((user + system) / times)
      samples[index]!.wall.push(wall * 1_000 / times)
    }
  }
  return contenders.map(({ name }, index) => ({
    name,
    cpu: median(samples[index]!.cpu),
    wall: median(samples[index]!.wall)
  }))
}

/** A table of figures with their ratio to the first, the baseline. */
export const table = (title: string, figures: ReadonlyArray<Figure>, unit = "µs"): string => {
  const base = figures[0]!
  const rows = figures.map(({ cpu, name, wall }) =>
    `| ${name} | ${cpu.toFixed(3)} | ${(cpu / base.cpu).toFixed(2)} | ${wall.toFixed(3)} | ${
      (wall / base.wall).toFixed(2)
    } |`
  )
  return [`### ${title}`, "", `| | CPU ${unit} | ratio | wall ${unit} | ratio |`, "|---|--:|--:|--:|--:|", ...rows, ""]
    .join("\n")
}
