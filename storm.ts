import { random } from "@belay/testing/SeededRandom"
import { readFileSync } from "node:fs"
import { newFile } from "./packages/host/test/support/hosted.ts"
import { killStorm } from "./packages/host/test/support/killStorm.ts"
const [from, to] = process.argv.slice(2).map(Number)
for (let seed = from!; seed < to!; seed++) {
  const { below } = random(seed)
  const where = newFile()
  const kills = Array.from({ length: 25 }, () => 3 + below(90))
  try {
    const killed = await killStorm({ where, log: `${where}.log`, seed, sessions: 3, messages: 6, kills })
    const lines = readFileSync(`${where}.log`, "utf8").trim().split("\n")
    console.log("seed", seed, "killed", killed, "lines", lines.length, lines[0])
  } catch (e) {
    console.log("seed", seed, where, e)
  }
}
