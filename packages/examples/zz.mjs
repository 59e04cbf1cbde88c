import { Hooks } from "@belay/hooks"
import { agentInSessions, repeat } from "../../bench/toolTurn.ts"
const safe = agentInSessions(Hooks.safeDefaults(), false)
const t = performance.now()
for (let i = 0; i < 4000; i++) await safe.run()
const c0 = process.cpuUsage()
const b = performance.now()
for (let i = 0; i < 4000; i++) await safe.run()
const c = process.cpuUsage(c0)
console.log("us a turn cpu", (c.user + c.system) / 40000, "wall", (performance.now() - b) * 1000 / 40000)
