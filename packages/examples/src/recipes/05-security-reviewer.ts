/**
 * A security reviewer gets the rules of the project and the known vulnerabilities of its dependencies; other agents do
 * not.
 */
import { agentTool, createAgent, defineHook, HookAction, Message } from "@belay/sdk"
import { Scripted } from "@belay/testing"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

const folder = await mkdtemp(join(tmpdir(), "belay-review-"))
await writeFile(join(folder, "SECURITY.md"), "Never log tokens. Parameters go into SQL as parameters.")
const listCves = async () => ["CVE-2099-0001 left-padder < 2.0.0", "CVE-2099-0002 yaml-thing < 1.4.1"]

const briefing = defineHook({
  name: "security-briefing",
  preDelegation: async (delegation, { cwd }) => {
    if (delegation.agent !== "review_security") return undefined
    const [rules, cves] = await Promise.all([readFile(join(cwd, "SECURITY.md"), "utf8"), listCves()])
    const parts = [
      delegation.instructions ?? "",
      `SECURITY.md:\n${rules}`,
      `Known vulnerabilities:\n${cves.join("\n")}`
    ]
    return HookAction.transform({ ...delegation, instructions: parts.filter((part) => part !== "").join("\n\n") })
  }
})

const [security, style] = [Scripted.make(["one finding"]), Scripted.make(["nothing"])]
const reviewer = (name: string, provider: Scripted.Scripted) =>
  agentTool({ name: `review_${name}`, description: `Review ${name}`, agent: createAgent({ name, provider }) })
const asks = ["review_security", "review_style"].map((name) => ({ name, args: { message: "Review the diff." } }))
const agent = createAgent({
  provider: Scripted.make([Scripted.toolCalls(...asks), "Reviewed."]),
  cwd: folder,
  tools: [reviewer("security", security), reviewer("style", style)],
  hooks: [briefing]
})
await agent.run("Review the diff")
console.log(`the security reviewer reads:\n${security.requests[0]?.messages.map(Message.text).join("\n")}`)
console.log(`the style reviewer reads:\n${style.requests[0]?.messages.map(Message.text).join("\n")}`)
await rm(folder, { recursive: true })
await agent.close()
