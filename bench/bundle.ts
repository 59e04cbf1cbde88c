/** The size of the programs of `start`, each bundled into one file without options, minified and compressed. */
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { gzipSync } from "node:zlib"
import { rolldown } from "rolldown"
import { programs } from "./start.ts"

export const bundle = async (): Promise<string> => {
  const { status } = spawnSync(process.execPath, ["scripts/build.mjs"], { stdio: "ignore" })
  if (status !== 0) throw new Error("the packages do not build: run npm run build")
  const folder = mkdtempSync(join(resolve("."), ".bench-"))
  try {
    const sizes: Array<{ readonly name: string; readonly bytes: number; readonly gzip: number }> = []
    for (const [index, [name, code]] of programs.entries()) {
      const input = join(folder, `${index}.mjs`)
      writeFileSync(input, code("http://127.0.0.1:1/v1"))
      const build = await rolldown({ input, platform: "node", logLevel: "silent" })
      const { output } = await build.generate({ format: "esm", minify: true, codeSplitting: false })
      const [{ code: bundled }] = output
      sizes.push({ name, bytes: bundled.length, gzip: gzipSync(bundled, { level: 9 }).length })
    }
    const base = sizes[1]!.gzip
    return [
      "| | minified kB | gzipped kB | ratio |",
      "|---|--:|--:|--:|",
      ...sizes.map(({ bytes, gzip, name }) =>
        `| ${name} | ${(bytes / 1000).toFixed(0)} | ${(gzip / 1000).toFixed(0)} | ${(gzip / base).toFixed(2)} |`
      ),
      ""
    ].join("\n")
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
